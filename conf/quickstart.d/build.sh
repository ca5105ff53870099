# An out-of-tree build. Needs common.sh; $tg_top is the source tree.

# tg_configure DIRECTORY LOG [CONFIGURE-OPTION...]: only when it must
tg_configure()
{
    local directory=$1 log=$2
    shift 2
    mkdir -p "$directory"
    if [ ! -x "$tg_top/configure" ] || [ "$tg_top/configure.ac" -nt "$tg_top/configure" ]; then
        tg_run "$log" "$tg_top/autogen.sh"
    fi
    if [ ! -e "$directory/Makefile" ] ||
        [ "$tg_top/configure" -nt "$directory/config.status" ]; then
        (cd "$directory" && tg_run "$log" "$tg_top/configure" "$@") || exit 1
    fi
}

# tg_make DIRECTORY LOG [TARGET...]: makes what is out of date
tg_make()
{
    local directory=$1 log=$2
    shift 2
    tg_run "$log" make -C "$directory" -j "$(nproc)" "$@"
}
