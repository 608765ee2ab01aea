package mocksuperset

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite" of the example databases
)

//go:embed rows/*.gz
var rowFiles embed.FS

// rowTexts are the example databases as files of SQLite, unpacked once.
var rowTexts = map[string]func() ([]byte, error){
	"dev-examples":   sync.OnceValues(func() ([]byte, error) { return readRows("dev-examples") }),
	"dev-warehouse":  sync.OnceValues(func() ([]byte, error) { return readRows("dev-warehouse") }),
	"prod-warehouse": sync.OnceValues(func() ([]byte, error) { return readRows("prod-warehouse") }),
}

func readRows(name string) ([]byte, error) {
	packed, err := rowFiles.ReadFile("rows/" + name + ".db.gz")
	if err != nil {
		return nil, err
	}
	return unpack(packed)
}

// dataFolder is where the addresses of the example databases point to; nothing is there.
const dataFolder = "/srv/superset/"

// prodLacks takes from dev's example tables what prod does not have.
var prodLacks = []string{"DROP TABLE wide_values", "DROP TABLE telemetry_wide", "ALTER TABLE sales_orders DROP COLUMN loyalty_points"}

// dataStore holds the databases that connections lead to, opened on first use.
// Each is SQLite in memory with one connection, so its statements run one after another.
type dataStore struct {
	mu   sync.Mutex
	open map[string]*sql.DB // address → database
}

func newDataStore() *dataStore { return &dataStore{open: map[string]*sql.DB{}} }

// errUnreachable says why a connection leads nowhere, in the words of the real drivers.
type errUnreachable struct {
	text   string
	driver bool // the driver is missing, not the server
}

func (e *errUnreachable) Error() string { return e.text }

// database opens what an address leads to.
func (d *dataStore) database(uri string) (*sql.DB, error) {
	scheme, path, found := strings.Cut(uri, "://")
	engine, _, _ := strings.Cut(scheme, "+")
	switch {
	case !found:
		return nil, &errUnreachable{text: "Could not parse SQLAlchemy URL from given URL string"}
	case engine == "postgresql":
		return nil, &errUnreachable{text: "No module named 'psycopg2'", driver: true}
	case engine == "mysql":
		return nil, &errUnreachable{text: "No module named 'MySQLdb'", driver: true}
	case engine != "sqlite":
		return nil, &errUnreachable{text: "Can't load plugin: sqlalchemy.dialects:" + engine, driver: true}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if db := d.open[uri]; db != nil {
		return db, nil
	}
	db, err := openRows(strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, err
	}
	d.open[uri] = db
	return db, nil
}

var exampleFile = regexp.MustCompile(`^` + dataFolder + `(dev|staging|prod)/(examples|warehouse)\.db$`)

func openRows(path string) (*sql.DB, error) {
	var text []byte
	var then []string
	if path != "" && path != ":memory:" {
		m := exampleFile.FindStringSubmatch(path)
		if m == nil {
			return nil, &errUnreachable{text: "unable to open database file"}
		}
		name := "dev-" + m[2]
		if m[1] == "prod" && m[2] == "warehouse" {
			name = "prod-warehouse"
		} else if m[1] == "prod" {
			then = prodLacks
		}
		var err error
		if text, err = rowTexts[name](); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxLifetime(0)
	if err := fillRows(db, text, then); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func fillRows(db *sql.DB, text []byte, then []string) error {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if len(text) > 0 {
		err := conn.Raw(func(c any) error {
			s, can := c.(interface{ Deserialize([]byte) error })
			if !can {
				return fmt.Errorf("the driver cannot load a database")
			}
			return s.Deserialize(text)
		})
		if err != nil {
			return err
		}
	}
	for _, statement := range then {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// reset forgets what was written to the databases.
func (d *dataStore) reset() {
	_ = d.close()
}

func (d *dataStore) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	for _, db := range d.open {
		err = errors.Join(err, db.Close())
	}
	d.open = map[string]*sql.DB{}
	return err
}
