package summarise

// Share divides total among slots that want wants[i] each, by water-filling: a slot that wants no more than
// the even share gets all it wants, the others divide what is left, remainders one each in slot order. The
// result is deterministic, and its sum is total or the sum of the wants, whichever is less.
func Share(total int, wants []int) []int {
	got := make([]int, len(wants))
	open := make([]int, 0, len(wants)) // slots that have nothing yet
	for i := range wants {
		open = append(open, i)
	}
	left := max(total, 0)
	for len(open) > 0 {
		even, rest := left/len(open), open[:0:0]
		for _, i := range open {
			if w := max(wants[i], 0); w <= even {
				got[i] = w
				left -= w
				continue
			}
			rest = append(rest, i)
		}
		if len(rest) == len(open) {
			for k, i := range open {
				got[i] = even
				if k < left%len(open) {
					got[i]++
				}
			}
			return got
		}
		open = rest
	}
	return got
}
