# shellcheck shell=bash
# Sourced by build.sh: compiles the C code. Flags are in core/cflags.txt (all builds),
# core/warnings.txt and wasm/cflags.txt (wasm/file_flags.txt has the flags of single files);
# everything made goes to build/.

CORE_INCLUDES="-Icore/include -Icore/src"
BUILD_INCLUDES="$CORE_INCLUDES -Icore/build"
# What a native library holds beside the model compiler, and the headers of all but the core.
NATIVE_FOLDERS=(core/src core/platform core/parallel core/train)
NATIVE_INCLUDES="-Icore/platform -Icore/parallel -Icore/train -Icore/distil"

# Prints the C files directly in the given folders, sorted.
c_sources() {
    local folder
    for folder in "$@"; do
        if [ -d "$folder" ]; then find "$folder" -maxdepth 1 -name '*.c'; fi
    done | LC_ALL=C sort
}

# Prints the newest file that any object may depend on besides its own source.
newest_input() {
    local folders=(core wasm)
    [ ! -d py_host/native ] || folders+=(py_host/native)
    [ ! -d tests/c ] || folders+=(tests/c)
    find "${folders[@]}" -name '*.h' -o -name 'cflags.txt' -o -name 'warnings.txt' \
        -o -name 'file_flags.txt' -o -name certify.c |
        tr '\n' '\0' | xargs -0 ls -t | sed -n 1p
}

object_of() { # folder source
    local flat=${2//\//_}
    echo "$1/${flat%.c}.o"
}

objects_of() { # folder source…
    local folder=$1 source
    shift
    for source in "$@"; do object_of "$folder" "$source"; done
}

# The same for all C files of the given source folders.
objects_from() { # folder source-folder…
    local folder=$1 sources
    shift
    mapfile -t sources < <(c_sources "$@")
    objects_of "$folder" "${sources[@]}"
}

# Compiles the sources whose objects are out of date: all of them when a header, a flag
# or the compiler changed.
compile_objects() { # folder command source…
    local folder=$1 command=$2 newest signature source object
    shift 2
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # the command is several words
    signature="$command $($command --version 2>/dev/null | sed -n 1p)"
    if [ "$(cat "$folder/command" 2>/dev/null)" != "$signature" ]; then
        rm -f "$folder"/*.o
        echo "$signature" >"$folder/command"
    fi
    newest=$(newest_input)
    for source in "$@"; do
        object=$(object_of "$folder" "$source")
        if [ ! "$object" -nt "$source" ] || [ ! "$object" -nt "$newest" ]; then
            rm -f "$object"
            printf '%s\0%s\0' "$source" "$object"
        fi
    done | COMPILE_COMMAND=$command xargs -0 -r -n 2 -P "$JOBS" bash -c 'compile_one "$@"' bash
}

# Prints the flags of a source in the wasm modules, sets spelled out.
wasm_flags() { # source
    awk -v source="$1" '
        $2 == "=" { name = $1; sub(/^[^=]*= /, ""); sets[name] = $0 }
        $NF == source && !/^#/ {
            for (i = 1; i < NF; i++) printf "%s ", $i in sets ? sets[$i] : $i
        }' wasm/file_flags.txt
}
export -f wasm_flags

# Sorts sources as wasm/file_flags.txt has them, the rest behind.
in_wasm_order() {
    awk 'NR == FNR { place[$NF] = NR; next } { print ($0 in place ? place[$0] : FNR + 9999), $0 }' \
        wasm/file_flags.txt - | sort -n | cut -d ' ' -f 2
}

compile_one() { # source object; the command comes through the environment
    local flag=
    case $COMPILE_COMMAND in
    *@wasm/cflags.txt*) flag=$(wasm_flags "$1") ;;
    esac
    echo "  $1"
    # shellcheck disable=SC2086 # the command is several words
    $COMPILE_COMMAND $flag -c "$1" -o "$2.tmp" && mv "$2.tmp" "$2"
}
export -f compile_one

# True if the target is missing or older than one of the files.
is_stale() { # target file…
    local target=$1 file
    shift
    [ -e "$target" ] || return 0
    for file in "$@"; do
        [ "$file" -nt "$target" ] && return 0
    done
    return 1
}

link_if_stale() { # target objects… -- command…
    local target=$1 objects=()
    shift
    while [ "$1" != -- ]; do
        objects+=("$1")
        shift
    done
    shift
    if is_stale "$target" "${objects[@]}"; then
        echo "  $target"
        rm -f "$target"
        "$@"
    fi
}

# Static libraries of one variant of the native code: build/NAME/libisotok.a (core, platform,
# parallel and train) and build/NAME/libisotok_build.a (the model compiler, and what distils models
# with it, for the extension and the tests; link it before the other).
build_static() { # name command
    local name=$1 command=$2 core build
    mapfile -t core < <(c_sources "${NATIVE_FOLDERS[@]}")
    mapfile -t build < <(c_sources core/build core/distil)
    compile_objects "build/$name/core" "$command $BUILD_INCLUDES -Icore/train" "${core[@]}" "${build[@]}"
    mapfile -t core < <(objects_of "build/$name/core" "${core[@]}")
    mapfile -t build < <(objects_of "build/$name/core" "${build[@]}")
    link_if_stale "build/$name/libisotok.a" "${core[@]}" -- \
        ar rcsD "build/$name/libisotok.a" "${core[@]}"
    link_if_stale "build/$name/libisotok_build.a" "${build[@]}" -- \
        ar rcsD "build/$name/libisotok_build.a" "${build[@]}"
}

# Vectors of any processor of the last fifteen years (core/src/vector.h); without, English is half as fast.
X86_FLAGS=$([ "$(uname -m)" != x86_64 ] || echo -mssse3)
NATIVE_COMMAND="${CC:-gcc} @core/cflags.txt @core/warnings.txt $X86_FLAGS -fPIC"

# Shared and static native libraries.
build_native() {
    build_static native "$NATIVE_COMMAND"
    local folder=build/native objects
    mapfile -t objects < <(objects_from $folder/core "${NATIVE_FOLDERS[@]}")
    link_if_stale $folder/libisotok.so "${objects[@]}" -- \
        "${CC:-gcc}" -shared -Wl,-z,defs -o $folder/libisotok.so "${objects[@]}"
    mapfile -t objects < <(objects_from $folder/core core/build)
    link_if_stale $folder/libisotok_build.so "${objects[@]}" $folder/libisotok.a -- \
        "${CC:-gcc}" -shared -Wl,-z,defs -Wl,--exclude-libs,ALL -o $folder/libisotok_build.so \
        "${objects[@]}" $folder/libisotok.a
}

# Variants that the tests link: their compiler and flags.
variant_command() { # name
    local sanitize="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    local common="@core/cflags.txt @core/warnings.txt -Werror"
    # gcc is often wrong about this one where it inlines.
    local gcc_common="$common -Wno-error=maybe-uninitialized"
    case $1 in
    debug) echo "gcc $gcc_common -g -O1 -DISOTOK_DEBUG" ;;
    asan) echo "clang-19 $common $X86_FLAGS $sanitize -fno-omit-frame-pointer -DISOTOK_DEBUG" ;;
    aarch64) echo "aarch64-linux-gnu-gcc $gcc_common" ;;
    s390x) echo "s390x-linux-gnu-gcc $gcc_common" ;;
    *)
        echo "build.sh: unknown variant $1 (debug asan aarch64 s390x)" >&2
        return 1
        ;;
    esac
}

# The C tests, linked with the libraries of a variant: build/NAME/tests/PROGRAM for each
# tests/c/test_*.c and tests/c/bigendian_*.c; the other files there are shared by all.
build_c_tests() { # name
    local name=$1 command folder=build/$1/tests sources source shared=() programs=() program
    command=$(variant_command "$name")
    build_static "$name" "$command"
    mapfile -t sources < <(c_sources tests/c)
    compile_objects "$folder" "$command $BUILD_INCLUDES $NATIVE_INCLUDES -Itests/c" "${sources[@]}"
    for source in "${sources[@]}"; do
        case ${source##*/} in
        test_* | bigendian_*) programs+=("$source") ;;
        *) shared+=("$(object_of "$folder" "$source")") ;;
        esac
    done
    for source in "${programs[@]}"; do
        program=${source##*/}
        program=$folder/${program%.c}
        source=$(object_of "$folder" "$source")
        # shellcheck disable=SC2086 # the command is several words
        link_if_stale "$program" "$source" "${shared[@]}" "build/$name/libisotok.a" \
            "build/$name/libisotok_build.a" -- $command -o "$program" "$source" \
            "${shared[@]}" "build/$name/libisotok_build.a" "build/$name/libisotok.a" -lpthread -lm
    done
}

# The two wasm modules from the compiler of record.
build_wasm() {
    local command="emcc @core/cflags.txt @core/warnings.txt @wasm/cflags.txt"
    wasm_modules build/wasm "$command" link_small
}

# The same from another compiler, as a check.
build_wasm_second() {
    local command="clang-19 --target=wasm32-unknown-unknown @core/cflags.txt @core/warnings.txt"
    command+=" @wasm/cflags.txt -isystem wasm/freestanding"
    wasm_modules build/wasm-second "$command" link_wasm
}

wasm_modules() { # folder command linker
    local folder=$1 command=$2 linker=$3 core build extra
    set -- wasm/glue.c wasm/freestanding/memory.c
    mapfile -t core < <(c_sources core/src | in_wasm_order)
    mapfile -t build < <(c_sources core/build)
    compile_objects "$folder/obj" "$command $BUILD_INCLUDES" "${core[@]}" "${build[@]}" "$@"
    mapfile -t core < <(objects_of "$folder/obj" "${core[@]}")
    mapfile -t build < <(objects_of "$folder/obj" "${build[@]}")
    mapfile -t extra < <(objects_of "$folder/obj" "$@")
    link_if_stale "$folder/isotok.wasm" "${core[@]}" "${extra[@]}" -- \
        "$linker" "$folder/isotok.wasm" "${core[@]}" "${extra[@]}"
    # Of the core, the compiler takes only what it calls: hence a library.
    link_if_stale "$folder/libisotok.a" "${core[@]}" -- \
        llvm-ar-19 rcsD "$folder/libisotok.a" "${core[@]}"
    link_if_stale "$folder/isotok-build.wasm" "${build[@]}" "${extra[@]}" "$folder/libisotok.a" -- \
        "$linker" "$folder/isotok-build.wasm" "${build[@]}" "${extra[@]}" "$folder/libisotok.a"
}

# Neither module has a C library. Both begin with 256 KiB of memory, and may take 2 GiB.
link_wasm() { # target object…
    local target=$1
    shift
    wasm-ld-19 --no-entry --stack-first -z stack-size=65536 --initial-memory=262144 \
        --max-memory=2147483648 --strip-all --gc-sections -o "$target" "$@"
}

link_small() { # target object…
    link_wasm "$@"
    # The optimizer puts any function with one caller into it; loops are faster on their own.
    # A variable for each value, to begin with: those that share one afterwards are chosen better.
    wasm-opt --enable-simd --enable-bulk-memory --enable-sign-ext \
        --enable-nontrapping-float-to-int --low-memory-unused --zero-filled-memory \
        --ssa-nomerge --simplify-locals-notee --rse -Oz --converge \
        --always-inline-max-function-size=3 --one-caller-inline-max-function-size=150 "$1" -o "$1"
}

# The C extension of the Python package, and the wasm modules beside it.
build_py() {
    local extension=py_host/isotok/_native.abi3.so sources objects include
    mapfile -t sources < <(c_sources py_host/native)
    if [ ${#sources[@]} -gt 0 ]; then
        include=$("$VENV_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')
        build_native
        compile_objects build/py "$NATIVE_COMMAND -DPy_LIMITED_API=0x030B0000 \
-Icore/include -Icore/build $NATIVE_INCLUDES -isystem $include" "${sources[@]}"
        mapfile -t objects < <(
            objects_of build/py "${sources[@]}"
            objects_from build/native/core core/build core/distil "${NATIVE_FOLDERS[@]}"
        )
        link_if_stale $extension "${objects[@]}" -- \
            "${CC:-gcc}" -shared -o $extension "${objects[@]}"
    fi
    build_wasm
    mkdir -p py_host/isotok/data
    local module
    for module in isotok.wasm isotok-build.wasm; do
        [ -e build/wasm/$module ] || continue
        cmp -s build/wasm/$module py_host/isotok/data/$module ||
            cp build/wasm/$module py_host/isotok/data/$module
    done
}
