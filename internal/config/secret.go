package config

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"agentd/internal/fault"
)

// A Secret is where a secret is kept. It is read when it is needed, and never printed. The zero Secret is empty.
type Secret struct {
	env, file string
	lookup    func(string) (string, bool)
}

// Secret returns the secret of a pair of keys …_env and …_file; the file wins.
func (c Config) Secret(env, file string) Secret {
	return Secret{env: env, file: file, lookup: c.lookup}
}

// Set reports whether the configuration names a place. Whether something is there only Value tells.
func (s Secret) Set() bool { return s.env != "" || s.file != "" }

// Value reads the secret; a file's last line break is not part of it. Its error is Invalid and names the place,
// never the value. It blocks on a file.
func (s Secret) Value() (string, error) {
	if s.file != "" {
		b, err := os.ReadFile(s.file)
		if err != nil {
			return "", fault.Wrap(fault.Invalid, "The secret's file "+s.file+" cannot be read.", err)
		}
		if v := strings.TrimRight(string(b), "\r\n"); v != "" {
			return v, nil
		}
		return "", fault.New(fault.Invalid, "The secret's file "+s.file+" is empty.")
	}
	if s.env == "" {
		return "", fault.New(fault.Invalid, "No place is configured for this secret.")
	}
	look := s.lookup
	if look == nil {
		look = os.LookupEnv
	}
	if v, ok := look(s.env); ok && v != "" {
		return v, nil
	}
	return "", fault.New(fault.Invalid, "The environment variable "+s.env+" is not set.")
}

// String keeps the secret out of every text.
func (s Secret) String() string { return "[secret]" }

// GoString keeps the secret out of %#v.
func (s Secret) GoString() string { return "[secret]" }

// LogValue keeps the secret out of every log.
func (s Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// Format keeps the secret out of every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }
