package summarise

import "fmt"

// words are the sentences around the items of a collection.
type words struct {
	found   int64 // how many there are
	atLeast bool  // and perhaps more
}

func newWords(count int64, o Options, partial bool) words {
	w := words{found: count, atLeast: partial}
	switch {
	case o.Total != nil:
		w.found = max(count, *o.Total)
	case o.More:
		w.atLeast = true
	}
	return w
}

func (w words) head() string {
	if w.atLeast {
		return fmt.Sprintf("Found at least %s:", itemsOf(w.found))
	}
	return fmt.Sprintf("Found %s:", itemsOf(w.found))
}

// tail says what follows the items shown, on a line of its own.
func (w words) tail(shown int64) string {
	more := w.found - shown
	switch {
	case w.atLeast && more > 0:
		return fmt.Sprintf("\nand at least %d more items.", more)
	case w.atLeast:
		return "\nand perhaps more items."
	case more == 1:
		return "\nand 1 more item."
	case more > 0:
		return fmt.Sprintf("\nand %d more items.", more)
	}
	return ""
}

// room is what head and tail take at most.
func (w words) room() int {
	return len(w.head()) + len("\nand at least  more items.") + len(fmt.Sprint(w.found))
}

func itemsOf(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}
