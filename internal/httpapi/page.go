package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"agentd/internal/fault"

	"github.com/labstack/echo/v4"
)

// A file is one file of the built page, ready to be sent.
type file struct {
	body, gzip []byte // gzip is nil where it would not be smaller
	etag       string
	mediaType  string
	forever    bool // its name changes with its content
}

// mediaTypes are named here, since what a machine's own table says differs.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".json": "application/json", ".png": "image/png", ".ico": "image/x-icon",
	".txt": "text/plain; charset=utf-8",
}

// The page reads here which origins may be its parent, and where people sign in.
const pageTags = `<meta name="agentd-parents" content="%s" /><meta name="agentd-login" content="%s" />`

// pages reads the built page once and registers it.
func (a *API) pages() error {
	if a.o.Web == nil {
		return nil
	}
	files, err := loadFiles(a.o.Web, a.o.FrameAncestors, a.o.LoginURL)
	if err != nil {
		return fault.Wrap(fault.Internal, "The built page could not be read.", err)
	}
	get := func(path string, h echo.HandlerFunc) {
		a.echo.GET(path, h)
		a.echo.HEAD(path, h)
	}
	toAgent := func(c echo.Context) error {
		to := a.o.BasePath + "agent"
		if q := c.Request().URL.RawQuery; q != "" {
			to += "?" + q
		}
		return c.Redirect(http.StatusTemporaryRedirect, to)
	}
	get("/", toAgent)
	get("/agent/", toAgent)
	get("/agent", func(c echo.Context) error { return a.showPage(c, files["index.html"]) })
	for name, f := range files {
		if name != "index.html" {
			get("/"+name, func(c echo.Context) error { return send(c, f) })
		}
	}
	return nil
}

// showPage sends the page with the policy that it is made for.
func (a *API) showPage(c echo.Context, f *file) error {
	if f == nil {
		return &fault.Error{Kind: fault.Transient, Code: "page_not_built", Msg: "The web page was not built: run make web."}
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", pagePolicy(a.o.FrameAncestors))
	if c.QueryParam("embed") == "" {
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	} else {
		a.newFrame(h)
	}
	return send(c, f)
}

// send answers conditional and partial requests too.
func send(c echo.Context, f *file) error {
	h := c.Response().Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Cache-Control", "no-cache")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, etag := f.body, f.etag
	if f.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(c.Request().Header.Get("Accept-Encoding")) {
			body, etag = f.gzip, strings.TrimSuffix(f.etag, `"`)+`-gz"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", etag)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(body))
	return nil
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		q = strings.ReplaceAll(q, " ", "")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(q, "q="), "0.") != "" || q == ""
		}
	}
	return false
}

// loadFiles reads everything that was built. Only assets have their content in their name.
func loadFiles(root fs.FS, parents []string, login string) (map[string]*file, error) {
	out := map[string]*file{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		body, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if name == "index.html" {
			body = withTags(body, parents, login)
		}
		f := &file{body: body, forever: strings.HasPrefix(name, "assets/"), mediaType: mediaTypeOf(name)}
		sum := sha256.Sum256(body)
		f.etag = `"` + hex.EncodeToString(sum[:16]) + `"`
		if f.gzip, err = compress(body); err != nil {
			return fmt.Errorf("compress %s: %w", name, err)
		}
		out[name] = f
		return nil
	})
	return out, err
}

// withTags tells the page what it cannot know: who may speak to it as its parent, and where to sign in.
func withTags(page []byte, parents []string, login string) []byte {
	tags := fmt.Sprintf(pageTags, html.EscapeString(strings.Join(parents, " ")), html.EscapeString(login))
	return bytes.Replace(page, []byte("</head>"), []byte(tags+"</head>"), 1)
}

func mediaTypeOf(name string) string {
	ext := path.Ext(name)
	if t, ok := mediaTypes[ext]; ok {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(body) {
		return nil, nil
	}
	return b.Bytes(), nil
}
