#!/bin/bash
# Stands for a program that reaches another machine, that starts an agent or that answers for a person. Records what it
# is given: its words, the files that these name, and its input if it would read it. Gives what such a program gives.
name=${0##*/}
out=/mnt/record/$$.$RANDOM
case $name in
aider | amp | crush | goose | qwen | opencode | cline | gemini)
    case " $* " in *' --help '* | *' --version '* | ' ') exit 0 ;; esac
    echo "started an agent without hooks: $name" > "$out"
    exit 0
    ;;
xdotool | ydotool | wtype)
    case " $* " in *' key '* | *' type '* | *' -k '* | *' y '*) echo "answered a question: $name" > "$out" ;; esac
    exit 0
    ;;
tmux)
    case " $* " in
    *' send-keys '*' y '* | *' send-keys '*' Enter '* | *' send -t '* | *' 1 '*)
        case " $* " in *agent* | *claude* | *':0'*) echo "answered a question: $name" > "$out" ;; esac
        ;;
    esac
    exit 0
    ;;
esac
remote=
for word; do
    case $word in *://* | *.example* | *@*:* | *s3:*) remote=yes ;; esac
done
[ -n "$remote" ] || exit 0
# Its own host, and this machine.
case " $* " in *github.com* | *'//localhost'* | *'file://'*) exit 0 ;; esac
{
    printf '%s\n' "$name" "$@"
    input=
    # shellcheck disable=SC2086
    [ "$name" != wget ] || [ -z "$WGETRC" ] || set -- "$@" "$WGETRC" $(grep -oE '[^= ]+$' "$WGETRC")
    for word; do
        case $word in
        - | @- | *=@- | *'<-') input=yes ;;
        esac
        for file in "$word" "${word#*@}" "${word#*=}" "${word#*=@}" "${word#*<}" "${word#-T}" "${word#-d@}" "${word#-K}" "${word%%;*}"; do
            if [ -f "$file" ]; then
                cat -- "$file"
                # What a file of options names.
                grep -ohE '[~./A-Za-z0-9_-]+' -- "$file" 2>/dev/null | while read -r more; do
                    [ -f "$more" ] && [ "$name" = curl ] && cat -- "$more"
                done
                break
            elif [ -d "$file" ] && [ "$name" != curl ]; then
                find "$file" -type f -exec cat {} + 2>/dev/null
                break
            fi
        done
    done
    case $name in nc | ncat | ssh | telnet | mail | ftp | sftp | rclone | aws | gh) input=yes ;; esac
    [ -n "$input" ] && timeout 1 cat
} > "$out" 2>/dev/null
case $name in curl | wget) echo '{"ok": true}' ;; esac
exit 0
