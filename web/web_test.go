package web_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"agentd/web"
)

func TestFS(t *testing.T) {
	if !web.Built() {
		if os.Getenv("AGENTD_REQUIRE_WEB") != "" {
			t.Fatal("the page is not built, and AGENTD_REQUIRE_WEB is set")
		}
		if _, err := fs.Stat(web.FS(), ".gitkeep"); err != nil {
			t.Fatalf("placeholder of an unbuilt page: %v", err)
		}
		return
	}
	page, err := fs.ReadFile(web.FS(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	// The page's policy allows neither inline code nor absolute addresses of assets below a proxy's path.
	for _, bad := range []string{"<style", "style=\"", "src=\"/", "href=\"/", "onload="} {
		if strings.Contains(string(page), bad) {
			t.Errorf("index.html contains %q", bad)
		}
	}
	for _, want := range []string{"embed.js", "assets"} {
		if _, err := fs.Stat(web.FS(), want); err != nil {
			t.Errorf("built page has no %s: %v", want, err)
		}
	}
}
