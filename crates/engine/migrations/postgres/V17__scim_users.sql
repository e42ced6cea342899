-- Users that an identity provider provisions. A person is one user of a project; user names differ in more than case.

CREATE TABLE scim_users (
    key BIGINT PRIMARY KEY, version BIGINT NOT NULL,
    project BIGINT NOT NULL, id TEXT NOT NULL, person BIGINT NOT NULL, user_name TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id),
    UNIQUE (project, person),
    UNIQUE (project, user_name)
);
