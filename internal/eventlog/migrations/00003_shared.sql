-- +goose Up
-- Until when somebody surely watches the conversation, on whatever replica; a stream says so again and again.
ALTER TABLE conversation ADD COLUMN watched BIGINT NOT NULL DEFAULT 0;

-- Keys that agentd made for itself and that all replicas use.
CREATE TABLE secret (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL -- base64
);

-- What counts once and was used, until it would not count any more.
CREATE TABLE spent (
    id      TEXT   PRIMARY KEY,
    expires BIGINT NOT NULL
);
CREATE INDEX spent_expires ON spent (expires);

-- +goose Down
DROP TABLE spent;
DROP TABLE secret;
ALTER TABLE conversation DROP COLUMN watched;
