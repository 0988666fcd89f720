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
    -- The table of the site as in a settings file; secrets are references only.
    settings text NOT NULL,
    -- The text of its schedule, for people and to notice a change.
    schedule text,
    next_run timestamptz,
    paused boolean NOT NULL DEFAULT false,
    -- Sessions in a row that began and did not end.
    attempts smallint NOT NULL DEFAULT 0,
    -- Why the site is set aside.
    set_aside text,
    -- The lease under which a session is under way.
    epoch bigint,
    -- The state and the set that count.
    state_object text,
    set_id text,
    -- From the last session that ended.
    published timestamptz,
    listed bigint,
    outcome text
);
CREATE INDEX site_host ON site (host);

CREATE TABLE run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site bigint NOT NULL REFERENCES site ON DELETE CASCADE,
    worker text NOT NULL,
    epoch bigint NOT NULL,
    began timestamptz NOT NULL,
    ended timestamptz,
    outcome text,
    summary jsonb
);
CREATE INDEX run_site ON run (site, id);

CREATE TABLE worker (
    name text PRIMARY KEY,
    version text NOT NULL,
    began timestamptz NOT NULL,
    seen timestamptz NOT NULL,
    sites integer NOT NULL,
    is_draining boolean NOT NULL
);
