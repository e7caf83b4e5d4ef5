#!/bin/sh
# Creates the root of the image from files of a Debian: programs, their libraries, and the records of their Debian packages.
# The image has no package manager, and only the shell that the engines' sandbox needs.
#
#     make-root.sh /target node setpriv /usr/games/stockfish
set -eu
root=$1
shift

mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/etc" "$root/var/lib/dpkg/status.d" "$root/usr/share/doc"
for folder in bin lib lib64; do
  ln -s "usr/$folder" "$root/$folder"
done
install -d -m 1777 "$root/tmp"
install -d "$root/dev" "$root/proc" "$root/sys"

# All files are below /usr, but some packages still list them below /.
package_of() {
  dpkg-query -S "$1" "${1#/usr}" 2>/dev/null | head -n 1 | cut -d : -f 1
}

take() {
  path=$1
  real=$(realpath "$path")
  mkdir -p "$root$(dirname "$real")"
  cp -p "$real" "$root$real"
  # The requested name, if it is a link.
  name=$(realpath "$(dirname "$path")")/$(basename "$path")
  if [ "$name" != "$real" ]; then
    mkdir -p "$root$(dirname "$name")"
    ln -sf "$real" "$root$name"
  fi
  package=$(package_of "$real")
  if [ -n "$package" ] && [ ! -e "$root/var/lib/dpkg/status.d/$package" ]; then
    # Image scanners look here for packages if there is no package manager.
    dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
    mkdir -p "$root/usr/share/doc/$package"
    cp -pL "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
  fi
}

for program in "$@"; do
  path=$(command -v "$program") || {
    echo "$program is not here" >&2
    exit 1
  }
  take "$path"
  ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
    take "$library"
  done
done

take /etc/os-release
printf 'root:x:0:0:root:/:/bin/sh\nkibitz:x:10001:10001::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nkibitz:x:10001:\nnogroup:x:65534:\n' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
