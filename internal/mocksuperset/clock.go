package mocksuperset

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// firstNow is where the clock of stored dates stands at start: a little after
// the newest date of the fixtures.
var firstNow = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// clock tells two times. Dates of objects run from a fixed start, by whole
// minutes and a hundredth of a second for each write, so that the same steps
// give the same dates and a later write always has a later one. Tokens live by
// the real time, because their reader looks at its own clock.
type clock struct {
	start time.Time // of the dates of objects
	began time.Time // real time when the server was made

	mu       sync.Mutex
	writes   int
	advanced time.Duration
}

func newClock(start time.Time) *clock {
	if start.IsZero() {
		start = firstNow
	}
	return &clock{start: start.UTC(), began: time.Now()}
}

// now is the date that an object gets.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ran := time.Since(c.began).Truncate(time.Minute)
	return c.start.Add(ran + c.advanced + time.Duration(c.writes)*10*time.Millisecond)
}

// wall is the time that tokens and cookies go by.
func (c *clock) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.advanced)
}

func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanced += d
}

const storedLayout = "2006-01-02 15:04:05.000000"

func stored(t time.Time) string { return t.UTC().Format(storedLayout) }

func parseStored(text string) (time.Time, bool) {
	t, err := time.Parse(storedLayout, text)
	return t, err == nil
}

// isoDate writes a stored date as Python's isoformat does: no fraction when it is zero.
func isoDate(text string) any {
	t, ok := parseStored(text)
	if !ok {
		return nil
	}
	return strings.TrimSuffix(t.Format("2006-01-02T15:04:05.000000"), ".000000")
}

func utcDate(text string) any {
	t, ok := parseStored(text)
	if !ok {
		return nil
	}
	return t.Format("2006-01-02T15:04:05.000000+0000")
}

// seconds is a stored date as whole seconds, written as Python writes a float.
func seconds(text string) any {
	t, ok := parseStored(text)
	if !ok {
		return nil
	}
	return pyFloat(float64(t.Unix()))
}

// ago tells a distance in time in the words of the lists.
func ago(now time.Time, text string) string {
	then, ok := parseStored(text)
	if !ok {
		return ""
	}
	d := now.Sub(then)
	days := int(d.Hours() / 24)
	months := int(float64(days%365) / 30.5)
	switch secs := int(d.Seconds()); {
	case secs < 1:
		return "now"
	case secs == 1:
		return "a second ago"
	case secs < 60:
		return fmt.Sprintf("%d seconds ago", secs)
	case secs < 120:
		return "a minute ago"
	case secs < 3600:
		return fmt.Sprintf("%d minutes ago", secs/60)
	case secs < 7200:
		return "an hour ago"
	case days < 1:
		return fmt.Sprintf("%d hours ago", secs/3600)
	case days == 1:
		return "a day ago"
	case days < 365 && months == 0:
		return fmt.Sprintf("%d days ago", days)
	case days < 365 && months == 1:
		return "a month ago"
	case days < 365:
		return fmt.Sprintf("%d months ago", months)
	case days < 730 && months == 0:
		return "a year ago"
	case days < 730 && months == 1:
		return "1 year, 1 month ago"
	case days < 730:
		return fmt.Sprintf("1 year, %d months ago", months)
	}
	return fmt.Sprintf("%d years ago", days/365)
}
