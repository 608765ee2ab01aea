-- +goose Up
-- Plans of migrations and what became of them. busy_until keeps two from one target; 0 is nobody.
CREATE TABLE migration (
    id         TEXT   PRIMARY KEY,
    user_name  TEXT   NOT NULL,
    target     TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    busy_until BIGINT NOT NULL,
    expires    BIGINT NOT NULL,
    body       TEXT   NOT NULL
);
CREATE INDEX migration_target ON migration (target, busy_until);
CREATE INDEX migration_expires ON migration (expires);

-- +goose Down
DROP TABLE migration;
