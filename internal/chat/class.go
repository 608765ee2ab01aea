package chat

import (
	"strings"
	"unicode"
)

// Classes of environments, the most careful first.
const (
	ClassProd    = "prod"
	ClassStaging = "staging"
	ClassDev     = "dev"
)

// Classes lists the classes, the most careful first. The slice is the caller's.
func Classes() []string { return []string{ClassProd, ClassStaging, ClassDev} }

var classWords = map[string]string{
	"prod": ClassProd, "prd": ClassProd, "production": ClassProd, "live": ClassProd,
	"staging": ClassStaging, "stage": ClassStaging, "stg": ClassStaging, "uat": ClassStaging,
	"qa": ClassStaging, "test": ClassStaging, "testing": ClassStaging, "preprod": ClassStaging,
	"dev": ClassDev, "develop": ClassDev, "development": ClassDev, "local": ClassDev, "sandbox": ClassDev,
}

// Class normalises what people call an environment, as "ss-prod" or "PRD". Of several words the most careful
// one counts. What is not understood is ClassProd and false.
func Class(s string) (class string, understood bool) {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		c := classWords[strings.TrimRightFunc(w, unicode.IsDigit)]
		switch {
		case c == ClassProd, class == "", class == ClassDev && c != "":
			class = c
		}
	}
	if class == "" {
		return ClassProd, false
	}
	return class, true
}
