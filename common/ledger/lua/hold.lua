-- A hold: one text of eleven words in the hash `holds`. `due` is the deadline of its lease,
-- `period` the plan's when the deposit was taken, `trusted` an estimate counted in the user's
-- `exposed` instead of a deposit. (reserve and settle, the hot ones, spell the text out.)

local function parse_hold(text)
    local user, token, plan, amount, earned, lapsed, node, worker, period, trusted, due =
        match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    return {user = user, token = token, plan = plan, amount = tonumber(amount),
            earned = tonumber(earned), lapsed = lapsed == '1', node = node, worker = worker,
            period = period, trusted = tonumber(trusted), due = tonumber(due)}
end

local function hold_text(hold)
    return format('%s %s %s %d %d %s %s %s %s %d %d', hold.user, hold.token, hold.plan,
                  hold.amount, hold.earned, hold.lapsed and '1' or '0', hold.node, hold.worker,
                  hold.period, hold.trusted, hold.due)
end
