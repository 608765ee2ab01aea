package offload_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"
)

// What went wrong in other systems with large results; the whole kind is in the tests that docs/situations.md names.

// Head and tail of an image put together are no image. It is cut as any text, and never joined.
func TestBase64IsNeverSpliced(t *testing.T) {
	image := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x89PNG\r\n\x1a\n and the bytes of an image"), 6000))
	log := strings.Repeat("2026-01-01 10:00:00 INFO a step\n", 5)
	for name, data := range map[string]string{
		"a text": image, "in an object": `{"image":"` + image + `","ok":true}`, "an address": `["data:image/png;base64,` + image + `"]`, "in a log": log + image,
	} {
		got := newBench(t, offload.Options{}, artifact.Options{}).bound(tool.Result{Data: json.RawMessage(data)})
		for _, run := range regexp.MustCompile(`[A-Za-z0-9+/=]{60,}`).FindAllString(got.Text, -1) {
			if !strings.Contains(image, run) {
				t.Errorf("%s: %.40s… is no piece of the image", name, run)
			}
		}
	}
}

// A limit in lines would let one line of 5 MB through.
func TestOneLineOf5MB(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	for name, data := range map[string]string{
		"a text": strings.Repeat("x", 5<<20), "minified": `{"a":[` + strings.Repeat(`{"b":1},`, 600_000) + `{}]}`, "a log": strings.Repeat("ERROR: ", 700_000),
	} {
		if got := b.bound(tool.Result{Data: json.RawMessage(data)}); decisionOf(got) != chat.ArtifactCreated || len(got.Text) < 300 {
			t.Errorf("%s: %s", name, got.Text)
		}
	}
}

// What is left out is counted from the whole, also where a text is cut twice.
func TestLossIsCountedFromTheWhole(t *testing.T) {
	left := regexp.MustCompile(`(?s)^(.*)\n\[… (\d+) characters left out …\]\n(.*)$`)
	for _, total := range []int{4001, 5000, 1 << 20, 5<<20 + 3} {
		line := "2026-01-01 10:00:00 INFO gröẞe 👍 of a step.\n"
		body := strings.Repeat(line, total/utf8.RuneCountInString(line)+1)
		body = string([]rune(body)[:total])
		b := newBench(t, offload.Options{BatchChars: 3000}, artifact.Options{})
		s := b.step(tool.Result{Data: json.RawMessage(body)}, text(2000))
		for _, got := range []offload.Bounded{s.each[0], b.batch(s)[0]} {
			m := left.FindStringSubmatch(got.Preview.Text)
			if m == nil {
				t.Fatalf("%d characters: %s", total, got.Text)
			}
			n, err := strconv.Atoi(m[2])
			if err != nil || n+utf8.RuneCountInString(m[1])+utf8.RuneCountInString(m[3]) != total {
				t.Errorf("%d characters: %d are said to be left out", total, n)
			}
			if !strings.HasPrefix(body, m[1]) || !strings.HasSuffix(body, m[3]) {
				t.Error("what is shown is not the text")
			}
		}
	}
}

// Without count and columns a model asks the same again.
func TestCountAndColumnsAreAlwaysThere(t *testing.T) {
	for _, limit := range []int{800, 1500, 4000} {
		got := newBench(t, offload.Options{MaxChars: limit}, artifact.Options{}).bound(tool.Result{Rows: dashboards(5000)})
		for _, want := range []string{"Found 5000 items:", `Columns: ["id","title","uuid","url"]`, "Shown: ", " of 5000", "read_artifact"} {
			if !strings.Contains(got.Text, want) {
				t.Errorf("limit %d: %q is not in the text:\n%s", limit, want, got.Text)
			}
		}
		if n := strings.Count(got.Text, "title"); n != 1 {
			t.Errorf("the name of a column is written %d times", n)
		}
	}
}

// What a pointer names can always be read: by the same owner, whatever page is open.
func TestThePointerOfAPreviewIsReadable(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	if tl := b.gate.Tool(); !tl.Always || tl.Name != offload.ReadArtifact {
		t.Errorf("read_artifact may be hidden: %+v", tl)
	}
	for _, r := range []tool.Result{{Rows: dashboards(100)}, {Data: objects(100)}, text(9000), {Data: json.RawMessage(`{"css":"` + strings.Repeat("a", 9000) + `"}`)}} {
		got := b.bound(r)
		uri := regexp.MustCompile(`_artifact_uri: (\S+)`).FindStringSubmatch(got.Text)[1]
		if page := b.mustRead(fmt.Sprintf(`{"artifact_id":%q}`, uri)); page.Text == "" || page.Preview == nil {
			t.Errorf("%s leads to nothing", uri)
		}
	}
}

// An ordinary answer is not cut: a preview of what fits would only cost another call.
func TestOrdinaryAnswersAreWhole(t *testing.T) {
	for _, r := range []tool.Result{{Rows: dashboards(20)}, {Data: objects(25)}, text(3900), {Data: json.RawMessage(`{"css":"` + strings.Repeat("a", 3900) + `"}`)}} {
		if got := newBench(t, offload.Options{}, artifact.Options{}).bound(r); got.Artifact != nil || strings.Contains(got.Text, "Stored") {
			t.Errorf("cut: %s", got.Text)
		}
	}
}
