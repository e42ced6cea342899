-- Users that an identity provider provisions. A person is one user of a project; user names differ in more than case.

CREATE TABLE scim_users (
    key INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    project INTEGER NOT NULL, id TEXT NOT NULL, person INTEGER NOT NULL, user_name TEXT NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (project, id),
    UNIQUE (project, person),
    UNIQUE (project, user_name)
);
