-- Which keys of a channel are the same: HMAC-SHA-256 under the token pepper; NULL: of before.
ALTER TABLE channel_keys ADD COLUMN fingerprint BINARY(32) NULL;
ALTER TABLE channel_keys ADD KEY channel_fingerprint (channel_id, fingerprint);
