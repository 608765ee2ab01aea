-- +goose Up
-- Times are microseconds since 1970 in UTC, 0 is none. JSON is TEXT. Truth is 0 or 1.

CREATE TABLE conversation (
    id       TEXT   PRIMARY KEY,
    owner    TEXT   NOT NULL,
    title    TEXT   NOT NULL,
    folded   TEXT   NOT NULL, -- the title in lower case, for searching
    created  BIGINT NOT NULL,
    updated  BIGINT NOT NULL,
    last_seq BIGINT NOT NULL
);
CREATE INDEX conversation_owner ON conversation (owner);

-- The key is the fence against a second writer.
CREATE TABLE event (
    conversation TEXT   NOT NULL,
    seq          BIGINT NOT NULL,
    run          TEXT   NOT NULL,
    at           BIGINT NOT NULL,
    type         TEXT   NOT NULL,
    body         TEXT   NOT NULL,
    note         TEXT   NOT NULL, -- for the model's history only; '' is none
    PRIMARY KEY (conversation, seq)
);

CREATE TABLE run (
    id           TEXT   PRIMARY KEY,
    conversation TEXT   NOT NULL,
    user_name    TEXT   NOT NULL,
    request_key  TEXT   NOT NULL, -- '' is none
    body         TEXT   NOT NULL,
    started      BIGINT NOT NULL,
    ended        BIGINT NOT NULL, -- time, 0 while it goes on
    epoch        BIGINT NOT NULL, -- how often it was claimed
    cancelled    BIGINT NOT NULL
);
CREATE UNIQUE INDEX run_active ON run (conversation) WHERE ended = 0;
CREATE INDEX run_active_user ON run (user_name) WHERE ended = 0;
CREATE UNIQUE INDEX run_request ON run (user_name, conversation, request_key) WHERE request_key <> '';
CREATE INDEX run_conversation ON run (conversation);

CREATE TABLE confirmation (
    id           TEXT   PRIMARY KEY,
    conversation TEXT   NOT NULL,
    user_name    TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    created      BIGINT NOT NULL,
    expires      BIGINT NOT NULL,
    args         TEXT   NOT NULL, -- byte for byte as shown
    body         TEXT   NOT NULL,
    decision     TEXT   NOT NULL,
    decided_by   TEXT   NOT NULL,
    decided_at   BIGINT NOT NULL,
    reason       TEXT   NOT NULL,
    edited_args  TEXT   NOT NULL,
    decision_run TEXT   NOT NULL
);
CREATE INDEX confirmation_conversation ON confirmation (conversation, state);
CREATE INDEX confirmation_user ON confirmation (user_name, state);
CREATE INDEX confirmation_pending ON confirmation (expires) WHERE state = 'pending';

CREATE TABLE feedback (
    conversation TEXT   NOT NULL,
    message_id   TEXT   NOT NULL,
    user_name    TEXT   NOT NULL,
    rating       TEXT   NOT NULL,
    comment      TEXT   NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (conversation, message_id, user_name)
);

CREATE TABLE remembered (
    id           TEXT   PRIMARY KEY,
    user_name    TEXT   NOT NULL,
    conversation TEXT   NOT NULL,
    env          TEXT   NOT NULL,
    tool         TEXT   NOT NULL,
    args_class   TEXT   NOT NULL,
    created      BIGINT NOT NULL
);
CREATE UNIQUE INDEX remembered_what ON remembered (user_name, conversation, env, tool, args_class);

CREATE TABLE audit (
    seq       BIGINT PRIMARY KEY,
    at        BIGINT NOT NULL,
    user_name TEXT   NOT NULL,
    tool      TEXT   NOT NULL,
    env       TEXT   NOT NULL,
    verdict   TEXT   NOT NULL,
    body      TEXT   NOT NULL, -- what the hash is over
    hash      TEXT   NOT NULL
);
CREATE INDEX audit_at ON audit (at);

-- What the audit's last row must be, so that a cut tail is noticed.
CREATE TABLE audit_head (
    id   BIGINT PRIMARY KEY,
    seq  BIGINT NOT NULL,
    hash TEXT   NOT NULL
);
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '');

CREATE TABLE artifact (
    id           TEXT   PRIMARY KEY,
    user_name    TEXT   NOT NULL,
    conversation TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    bytes        BIGINT NOT NULL, -- reserved while staged, then the real size
    last_used    BIGINT NOT NULL,
    expires      BIGINT NOT NULL,
    body         TEXT   NOT NULL
);
CREATE INDEX artifact_conversation ON artifact (conversation, state);
CREATE INDEX artifact_user ON artifact (user_name, state);
CREATE INDEX artifact_expiry ON artifact (state, expires);

-- +goose Down
DROP TABLE artifact;
DROP TABLE audit_head;
DROP TABLE audit;
DROP TABLE remembered;
DROP TABLE feedback;
DROP TABLE confirmation;
DROP TABLE run;
DROP TABLE event;
DROP TABLE conversation;
