/* commands - the functions behind the rows of the command table (table.c). */
#ifndef TOLLGATE_CTL_COMMANDS_H
#define TOLLGATE_CTL_COMMANDS_H

#include "admin-cgi/ctl/ctl.h"

ctl_run_fn ctl_cmd_init, ctl_cmd_migrate;
ctl_run_fn ctl_cmd_create_admin, ctl_cmd_user_add, ctl_cmd_user_enable, ctl_cmd_user_disable;
ctl_run_fn ctl_cmd_user_set, ctl_cmd_token_set;
ctl_run_fn ctl_cmd_audit_log_verify, ctl_cmd_audit_log_list;
ctl_run_fn ctl_cmd_credit;
ctl_run_fn ctl_cmd_token_create, ctl_cmd_token_revoke;
ctl_run_fn ctl_cmd_channel_add, ctl_cmd_channel_list, ctl_cmd_channel_test;
ctl_run_fn ctl_cmd_channel_balance;
ctl_run_fn ctl_cmd_channel_set, ctl_cmd_channel_enable, ctl_cmd_channel_disable;
ctl_run_fn ctl_cmd_key_add, ctl_cmd_key_list, ctl_cmd_key_enable, ctl_cmd_key_disable;
ctl_run_fn ctl_cmd_key_remove, ctl_cmd_key_cap, ctl_cmd_key_mode;
ctl_run_fn ctl_cmd_price_set, ctl_cmd_price_delete, ctl_cmd_price_list, ctl_cmd_price_unpriced;
ctl_run_fn ctl_cmd_price_check, ctl_cmd_price_import, ctl_cmd_price_export;
ctl_run_fn ctl_cmd_group_set, ctl_cmd_group_allow, ctl_cmd_group_forbid;
ctl_run_fn ctl_cmd_show_user, ctl_cmd_show_token, ctl_cmd_show_channel, ctl_cmd_show_request;
ctl_run_fn ctl_cmd_explain;
ctl_run_fn ctl_cmd_config_check, ctl_cmd_config_show, ctl_cmd_config_set, ctl_cmd_config_reset;
ctl_run_fn ctl_cmd_audit, ctl_cmd_ledger_rebuild, ctl_cmd_node_list, ctl_cmd_node_forget;
ctl_run_fn ctl_cmd_ledger_export, ctl_cmd_ledger_verify, ctl_cmd_ledger_accept;
ctl_run_fn ctl_cmd_code_create, ctl_cmd_code_redeem;
ctl_run_fn ctl_cmd_secrets_init, ctl_cmd_secrets_fingerprint;
ctl_run_fn ctl_cmd_secrets_export, ctl_cmd_secrets_import, ctl_cmd_rotate_master_key;

#endif
