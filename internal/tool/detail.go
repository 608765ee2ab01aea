package tool

import (
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var printer = message.NewPrinter(language.English)

// detail is the validator's own words for one misfit.
func detail(e *validator.ValidationError) string { return e.ErrorKind.LocalizedString(printer) }
