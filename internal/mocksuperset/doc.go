// Package mocksuperset is a fake Apache Superset 6.1.0: an http.Handler that
// answers as the real one does, for tests and for the demo. There is no other
// fake of Superset in this repository.
//
// A test serves it and points a client at it:
//
//	m := mocksuperset.New(mocksuperset.Options{Name: "dev"})
//	srv := httptest.NewServer(m)
//	defer srv.Close()
//	defer m.Close() // first: it lets hanging requests go
//
// The built-in content is that of a small company in three instances: dev,
// staging and prod. Users have their name as their password: admin, alpha,
// gamma (sees little), sql_user (SQL Lab), owner, noroles, inactive. Ids and
// uuids are the same in every server. Dates of objects begin at a fixed time;
// tokens live by the real one.
//
// Own content comes as YAML (Options.Fixture); FIXTURE.md describes its form.
//
// What goes wrong in life can be asked for:
//
//	m.Fail(mocksuperset.Fault{Method: "PUT", Path: "/api/v1/dashboard/*", CommitThenHang: true})
//	m.Committed("PUT", "/api/v1/dashboard/1") // how often it was really done
//
// Other processes do the same by HTTP under /_mock/: calls, count, faults,
// reset, objects, clock.
//
// Inside, the metadata is a set of tables as Superset has them (state); a
// request that writes works on a fork of it, which is served when the request
// has succeeded. Routes, their permissions and whether they write are in one
// table a resource. The rules are checked against recorded answers of a real
// Superset, see the contract folder.
package mocksuperset
