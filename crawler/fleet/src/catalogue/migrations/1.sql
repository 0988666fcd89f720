-- Sites that many machines share. Each transaction that changes a site locks the row of its host first, then that of the site.

-- Every lease has a number of its own, higher than those of all earlier leases of any host.
CREATE SEQUENCE lease_epoch;

CREATE TABLE host (
    name text PRIMARY KEY,
    -- When a worker may claim the host, whatever the reason for the wait: next run, lease of a worker, gap, Retry-After.
    claimable_at timestamptz NOT NULL DEFAULT 'infinity',
    -- The worker that has the lease; null after it was given back.
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    -- End of the lease, or when it was given back.
    lease_until timestamptz,
    -- Time between two requests to the host: the next worker waits as long after the end of a lease.
    gap interval NOT NULL DEFAULT '1 s',
    retry_after timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX host_claimable_at ON host (claimable_at);

CREATE TABLE site (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    host text NOT NULL REFERENCES host,
    -- A settings file with this site alone; secrets are references only.
    settings text NOT NULL,
    -- URL of its set without a last slash: two sites never publish to one place. Deferrable, so that an import can exchange two.
    output text NOT NULL UNIQUE DEFERRABLE,
    added timestamptz NOT NULL DEFAULT now(),
    -- The text of its schedule, for people and to notice a change.
    schedule text,
    next_run timestamptz,
    -- Until then no session begins; -infinity: it is not paused.
    paused_until timestamptz NOT NULL DEFAULT '-infinity',
    -- In the words of whoever paused it.
    pause_reason text,
    -- The next session that begins publishes in spite of the guard.
    force_next boolean NOT NULL DEFAULT false,
    -- The session under way does so, and those that repeat it after its worker died.
    forced boolean NOT NULL DEFAULT false,
    -- Sessions in a row that began, stored no checkpoint and did not end.
    attempts smallint NOT NULL DEFAULT 0,
    -- Why the site is set aside: until a session ends, of which one begins each day.
    set_aside text,
    -- The lease under which a session is under way.
    epoch bigint,
    -- The checkpoint that counts.
    state_object text,
    -- From the last session that was good, which may have found nothing to change.
    published timestamptz,
    listed bigint,
    -- From the last session that ended.
    outcome text
);
CREATE INDEX site_host ON site (host);

CREATE TABLE session (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site bigint NOT NULL REFERENCES site ON DELETE CASCADE,
    worker text NOT NULL,
    epoch bigint NOT NULL,
    began timestamptz NOT NULL,
    ended timestamptz,
    outcome text,
    summary jsonb
);
CREATE INDEX session_site ON session (site, id);

CREATE TABLE worker (
    name text PRIMARY KEY,
    version text NOT NULL,
    began timestamptz NOT NULL,
    seen timestamptz NOT NULL,
    sites integer NOT NULL,
    is_draining boolean NOT NULL,
    -- The storage of the states answers.
    is_ready boolean NOT NULL
);
