// Package web is the built page.
package web

import (
	"embed"
	"io/fs"
)

// The folder holds at least a placeholder, so that a fresh clone compiles before the page is built.
//
//go:embed all:dist
var dist embed.FS

// FS returns the built files: index.html, embed.js and assets/. Before the page is built it holds only a
// placeholder; Built tells.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	return sub
}

// Built reports whether the page was built before the binary was.
func Built() bool {
	_, err := fs.Stat(FS(), "index.html")
	return err == nil
}
