# An out-of-tree build. Needs common.sh; $tg_top is the source tree.

# tg_build DIRECTORY LOG [CONFIGURE-OPTION...]: configures when it must, makes what is out of date
tg_build()
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
    tg_run "$log" make -C "$directory" -j "$(nproc)"
}
