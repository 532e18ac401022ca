#!/bin/sh
# Runs the vm/* mechanisms on a standard KVM that is at hand everywhere: QEMU interprets a processor with AMD's extension (no
# /dev/kvm needed for that), in which Debian's cloud kernel runs KVM, in which the probe runs its guests. Their speed means nothing;
# that every plan ends with `ok` means that machine code, registers and page tables are right for real hardware.
#
#   tests/nested-svm.sh [TARGET_DIR]      about a minute; exit status 0: all ok, 1: not, 77: something to run it with is missing
#
# KERNEL_DEB=FILE takes the kernel from a package that is already here instead of downloading it.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$here/../../target/probes/rust}
triple=x86_64-unknown-linux-gnu

missing=''
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need qemu-system-x86_64 'qemu-system-x86 seabios ipxe-qemu'
need busybox busybox-static
need cpio cpio
need cargo rustup
need dpkg dpkg
[ -n "${KERNEL_DEB-}" ] || need apt-get apt
if [ -n "$missing" ]; then
    echo "nested-svm: cannot run, install:$missing" >&2
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Own flags, own folder: a static program runs on a root of one file. --target keeps them away from build scripts.
RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml" \
    --target "$triple" --target-dir "$target/static"

if [ -z "${KERNEL_DEB-}" ]; then
    # The metapackage names today's kernel.
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*-cloud-amd64\)$/\1/p' | head -n 1)
    [ -n "$package" ] || { echo 'nested-svm: apt knows no linux-image-cloud-amd64; run apt-get update' >&2; exit 77; }
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package") ||
        { echo "nested-svm: $package cannot be downloaded" >&2; exit 77; }
    KERNEL_DEB=$(ls "$work"/linux-image-*.deb)
fi
dpkg -x "$KERNEL_DEB" "$work/kernel"

root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$target/static/$triple/release/probe" "$root/probe"
for module in irqbypass kvm kvm-amd; do
    file=$(find "$work/kernel" -name "$module.ko*" | head -n 1)
    [ -n "$file" ] || { echo "nested-svm: the kernel has no module $module" >&2; exit 1; }
    case $file in
        *.xz) xz -dc "$file" >"$root/$module.ko" ;;
        *) cp "$file" "$root/$module.ko" ;;
    esac
done

# One plan a line.
while read -r plan; do
    # shellcheck disable=SC2086 # words
    "$root/probe" describe </dev/null | "$here/../words" batch_ns=500000 batches=3 warmup_batches=1 verify_units=20 mechanism=$plan | tr '\n' ' '
    echo
done >"$root/plans" <<'PLANS'
vm/exit by=pio
vm/exit by=hlt
vm/exit by=mmio
vm/exit by=hypercall
vm/exit ring=3
vm/exit timing=each
vm/exit experiment=create
vm/exit experiment=footprint contexts=20
vm/guest-stack
vm/guest-stack ring=0 contexts=5
vm/guest-stack where=process
vm/pair
vm/pair contexts=5
vm/pair ring=3
vm/pair cpus=0,1
PLANS
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
echo # The firmware's line is still open.
echo "before the module: $(/probe describe | grep -c '"code":"missing_device"') mechanisms say that the device is missing"
insmod /irqbypass.ko && insmod /kvm.ko && insmod /kvm-amd.ko
while read -r plan; do
    echo "plan $plan"
    /probe run $plan </dev/null
done </plans
poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs"

# One thread of QEMU for both processors: with one each (QEMU 7.2) the machine stood still for good in two of three runs, without
# a word of its kernel, while it made and destroyed guests.
console=$work/console
timeout -k 5 240 qemu-system-x86_64 -accel tcg,thread=single -cpu qemu64,+svm,+npt -M q35 -smp 2 -m 512 -nographic -no-reboot -nodefaults \
    -serial stdio -kernel "$(ls "$work"/kernel/boot/vmlinuz-*)" -initrd "$work/initramfs" \
    -append 'console=ttyS0 quiet panic=-1' </dev/null >"$console" 2>"$work/qemu.log" ||
    { echo 'nested-svm: the machine did not come to its end' >&2; tail -n 20 "$console" "$work/qemu.log" >&2; exit 1; }

# Each plan with the end of its transcript, and what a note says of the kind of KVM.
tr -d '\r' <"$console" | grep -aE '^plan |"t":"(note|end)"|^before the'
asked=$(wc -l <"$root/plans")
ok=$(grep -ac '"t":"end","status":"ok"' "$console" || true)
absent=$(grep -ac '^before the module: 3 mechanisms' "$console" || true)
[ "$absent" -eq 1 ] || echo 'nested-svm: without the module the probe did not say that the device is missing' >&2
echo "nested-svm: $ok of $asked plans ok"
[ "$ok" -eq "$asked" ] && [ "$absent" -eq 1 ]
