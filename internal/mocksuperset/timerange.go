package mocksuperset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	lastForm  = regexp.MustCompile(`(?i)^(last|next)\s+(?:(\d+)\s+)?(second|minute|hour|day|week|month|quarter|year)s?$`)
	prevForm  = regexp.MustCompile(`(?i)^previous calendar (week|month|quarter|year)$`)
	thisForm  = regexp.MustCompile(`(?i)^current (day|week|month|quarter|year)$`)
	agoForm   = regexp.MustCompile(`(?i)^(\d+)\s+(second|minute|hour|day|week|month|quarter|year)s?\s+ago$`)
	isoLayout = []string{"2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"}
)

// parseRange reads a time range; a zero time is an open end.
func parseRange(text string, now time.Time) (since, until time.Time, err error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "No filter") {
		return since, until, nil
	}
	today := now.Truncate(24 * time.Hour)
	if from, to, found := strings.Cut(text, " : "); found || strings.HasSuffix(text, " :") || strings.HasPrefix(text, ": ") {
		if !found {
			from, to, _ = strings.Cut(text, ":")
		}
		if since, err = parseMoment(from, now); err != nil {
			return since, until, err
		}
		until, err = parseMoment(to, now)
		return since, until, err
	}
	if m := lastForm.FindStringSubmatch(text); m != nil {
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		if strings.EqualFold(m[1], "next") {
			return today, moved(today, n, m[3]), nil
		}
		return moved(today, -n, m[3]), today, nil
	}
	if m := prevForm.FindStringSubmatch(text); m != nil {
		start := startOf(today, m[1])
		return moved(start, -1, m[1]), start, nil
	}
	if m := thisForm.FindStringSubmatch(text); m != nil {
		start := startOf(today, m[1])
		return start, moved(start, 1, m[1]), nil
	}
	since, err = parseMoment(text, now)
	return since, until, err
}

func parseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "":
		return time.Time{}, nil
	case "now":
		return now, nil
	case "today":
		return now.Truncate(24 * time.Hour), nil
	case "yesterday":
		return now.Truncate(24*time.Hour).AddDate(0, 0, -1), nil
	}
	for _, layout := range isoLayout {
		if t, err := time.Parse(layout, strings.TrimSuffix(text, "Z")); err == nil {
			return t, nil
		}
	}
	if m := agoForm.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return moved(now, -n, m[2]), nil
	}
	//lint:ignore ST1005 it is Superset's sentence
	return time.Time{}, fmt.Errorf("Cannot parse time string [%s]", text)
}

func moved(t time.Time, n int, unit string) time.Time {
	switch strings.ToLower(unit) {
	case "second":
		return t.Add(time.Duration(n) * time.Second)
	case "minute":
		return t.Add(time.Duration(n) * time.Minute)
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "day":
		return t.AddDate(0, 0, n)
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "month":
		return t.AddDate(0, n, 0)
	case "quarter":
		return t.AddDate(0, 3*n, 0)
	}
	return t.AddDate(n, 0, 0)
}

func startOf(day time.Time, unit string) time.Time {
	y, m, d := day.Date()
	switch strings.ToLower(unit) {
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		return time.Date(y, m-(m-1)%3, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// grainNames and grainSQL say how SQLite rounds a time down.
var grainNames = [][3]string{
	{"PT1S", "Second", "DATETIME(STRFTIME('%Y-%m-%dT%H:%M:%S', {col}))"},
	{"PT5S", "5 second", "DATETIME({col}, printf('-%d seconds', CAST(strftime('%S', {col}) AS INT) % 5))"},
	{"PT30S", "30 second", "DATETIME({col}, printf('-%d seconds', CAST(strftime('%S', {col}) AS INT) % 30))"},
	{"PT1M", "Minute", "DATETIME(STRFTIME('%Y-%m-%dT%H:%M:00', {col}))"},
	{"PT5M", "5 minute", minutes(5)}, {"PT10M", "10 minute", minutes(10)}, {"PT15M", "15 minute", minutes(15)}, {"PT30M", "30 minute", minutes(30)},
	{"PT1H", "Hour", "DATETIME(STRFTIME('%Y-%m-%dT%H:00:00', {col}))"},
	{"PT6H", "6 hour", "DATETIME(STRFTIME('%Y-%m-%dT%H:00:00', {col}), printf('-%d hours', CAST(strftime('%H', {col}) AS INT) % 6))"},
	{"P1D", "Day", "DATETIME({col}, 'start of day')"},
	{"P1W", "Week", "DATETIME({col}, 'start of day', -strftime('%w', {col}) || ' days')"},
	{"P1M", "Month", "DATETIME({col}, 'start of month')"},
	{"P3M", "Quarter", "DATETIME({col}, 'start of month', printf('-%d month', (strftime('%m', {col}) - 1) % 3))"},
	{"P1Y", "Year", "DATETIME({col}, 'start of year')"},
	{"P1W/1970-01-03T00:00:00Z", "Week ending Saturday", "DATETIME({col}, 'start of day', 'weekday 6')"},
	{"P1W/1970-01-04T00:00:00Z", "Week ending Sunday", "DATETIME({col}, 'start of day', 'weekday 0')"},
	{"1969-12-28T00:00:00Z/P1W", "Week starting Sunday", "DATETIME({col}, 'start of day', -strftime('%w', {col}) || ' days')"},
	{"1969-12-29T00:00:00Z/P1W", "Week starting Monday", "DATETIME({col}, 'start of day', '-' || ((strftime('%w', {col}) + 6) % 7) || ' days')"},
}

func minutes(n int) string {
	return fmt.Sprintf("DATETIME(STRFTIME('%%Y-%%m-%%dT%%H:%%M:00', {col}), printf('-%%d minutes', CAST(strftime('%%M', {col}) AS INT) %% %d))", n)
}

var grainSQL = func() map[string]string {
	out := map[string]string{}
	for _, g := range grainNames {
		out[g[0]] = g[2]
	}
	return out
}()
