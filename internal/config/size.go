package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// Units of sizes, decimal as on the box of a disk.
const (
	KB Size = 1000
	MB      = 1000 * KB
	GB      = 1000 * MB
	TB      = 1000 * GB
)

var units = map[string]Size{
	"": 1, "b": 1, "kb": KB, "mb": MB, "gb": GB, "tb": TB, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

var sizePattern = regexp.MustCompile(`^([0-9]{1,18}) ?([A-Za-z]{0,3})$`)

// ParseSize reads a size such as 100MB, 2GiB or 4096.
func ParseSize(s string) (Size, error) {
	m := sizePattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit, ok := units[strings.ToLower(m[2])]
	if err != nil || !ok || n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return Size(n) * unit, nil
}

// String is the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		size Size
		name string
	}{{TB, "TB"}, {GB, "GB"}, {MB, "MB"}, {KB, "KB"}} {
		if s >= u.size && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
