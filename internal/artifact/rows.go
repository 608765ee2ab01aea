package artifact

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// EachRow reads the rows of a payload from its beginning, whole and as they are stored. do gets a row's cells in the
// order of its columns, null where it has none; they are good until it returns. Its error ends the reading; one of
// the payload is Internal.
func EachRow(m chat.ArtifactMeta, payload io.Reader, do func(cells []json.RawMessage) error) error {
	all, err := project(m, nil)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(io.LimitReader(payload, m.Size), 256<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		cells, err := all.rowCells(line)
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		for i := range max(len(cells), len(m.Columns)) {
			if i == len(cells) {
				cells = append(cells, null)
			} else if cells[i] == nil {
				cells[i] = null
			}
		}
		if err := do(cells); err != nil {
			return err
		}
	}
}

// Names are the columns' names, with a number behind one that comes again: a, a_2. They are keys of an object.
func Names(cols []chat.Column) []string {
	seen := map[string]int{}
	var names []string
	for _, c := range cols {
		name := c.Name
		for seen[name] > 0 {
			seen[c.Name]++
			name = fmt.Sprintf("%s_%d", c.Name, seen[c.Name])
		}
		seen[name]++
		names = append(names, name)
	}
	return names
}
