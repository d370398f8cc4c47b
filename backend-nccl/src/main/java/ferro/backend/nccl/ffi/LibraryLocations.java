package ferro.backend.nccl.ffi;

import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Locations in which NCCL and the runtime are searched, in order. A location is an absolute path or a plain file name,
 * so the current directory is never searched.
 *
 * <p>Sources: documented defaults of NCCL's and CUDA's packages (deb, rpm, tar), of conda (lib of the environment) and
 * of pip's wheels (nvidia-nccl-cu12, nvidia-cuda-runtime-cu12: site-packages/nvidia/.../lib).
 *
 * @param namedNccl    NCCL library that the user has named; no other is then used
 * @param namedRuntime runtime library that the user has named; no other is then used
 * @param folders      folders that the user wants searched first
 * @param environments folders of Python environments, including those of conda
 */
public record LibraryLocations(
        Optional<String> namedNccl, Optional<String> namedRuntime, List<Path> folders, List<Path> environments) {
    private static final List<String> SYSTEM_FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/local/lib/", "/usr/lib/", "/usr/lib64/");
    private static final List<String> SYSTEM_ENVIRONMENTS = List.of("/usr/local", "/usr", "/opt/conda", "/opt/venv");

    private static final List<String> NCCL_NAMES = List.of("libnccl.so.2", "libnccl.so");
    private static final List<String> RCCL_NAMES = List.of("librccl.so.1", "/opt/rocm/lib/librccl.so.1");
    private static final List<String> NCCL_WHEELS = List.of("nvidia/nccl/lib");

    /**
     * Release 12 comes before 13, because a driver that supports a newer runtime also supports an older one. The name
     * without a release follows.
     */
    private static final List<String> CUDA_NAMES =
            List.of("libcudart.so.12", "libcudart.so.13", "libcudart.so", "libcudart.so.11.0");

    private static final List<String> HIP_NAMES =
            List.of("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so");
    private static final List<String> CUDA_WHEELS = List.of("nvidia/cuda_runtime/lib", "nvidia/cu13/lib");

    /**
     * Reads the locations from the settings.
     *
     * @param context settings
     * @return locations
     * @throws IllegalArgumentException if a setting names a library or a folder by a relative path
     */
    public static LibraryLocations of(RankContext context) {
        List<Path> environments = Stream.of(Settings.CONDA_PREFIX, Settings.VIRTUAL_ENV)
                .flatMap(setting -> folder(setting, context).stream())
                .toList();
        Stream<Path> users = folder(Settings.HOME, context).map(home -> home.resolve(".local")).stream();
        Stream<Path> all = Stream.of(
                        environments.stream(),
                        users,
                        SYSTEM_ENVIRONMENTS.stream().map(Path::of))
                .flatMap(some -> some);
        return new LibraryLocations(
                Settings.NCCL_LIBRARY.find(context),
                Settings.CUDART_LIBRARY.find(context),
                folders(context),
                all.toList());
    }

    /**
     * Returns the folders that the property names. Throws for a relative folder: JNA also reads the property when it
     * searches a plain name, so ignoring the folder here would not exclude it.
     */
    private static List<Path> folders(RankContext context) {
        String name = Settings.JNA_LIBRARY_PATH.name();
        List<Path> folders = new ArrayList<>();
        for (String text : Settings.JNA_LIBRARY_PATH.find(context).orElse("").split(File.pathSeparator)) {
            if (!text.isEmpty() && !Path.of(text).isAbsolute()) {
                throw new IllegalArgumentException(name + " has the relative folder " + text
                        + ", which depends on the current directory: need only absolute paths");
            }
            if (!text.isEmpty()) {
                folders.add(Path.of(text));
            }
        }
        return folders;
    }

    /** {@return the names and paths to try for NCCL, best first} */
    public List<String> nccl() {
        if (namedNccl.isPresent()) {
            return List.of(namedNccl.get());
        }
        List<String> names = new ArrayList<>(NCCL_NAMES);
        names.addAll(RCCL_NAMES);
        List<String> candidates = inFolders(names);
        candidates.add(NCCL_NAMES.get(0));
        SYSTEM_FOLDERS.forEach(folder -> candidates.add(folder + NCCL_NAMES.get(0)));
        candidates.add(NCCL_NAMES.get(1));
        candidates.addAll(inEnvironments(NCCL_WHEELS, NCCL_NAMES));
        candidates.addAll(RCCL_NAMES);
        return candidates;
    }

    /**
     * {@return the names and paths to try for the runtime of an NCCL, best first}
     *
     * @param nccl name or path by which NCCL was found
     */
    public List<String> runtime(String nccl) {
        return namedRuntime.map(List::of).orElseGet(() -> nccl.contains("rccl") ? hip() : cuda());
    }

    /** {@return the names and paths to try for a runtime without NCCL, best first} */
    public List<String> runtime() {
        return namedRuntime
                .map(List::of)
                .orElseGet(() -> Stream.concat(cuda().stream(), hip().stream()).toList());
    }

    private List<String> hip() {
        List<String> candidates = inFolders(HIP_NAMES);
        candidates.addAll(HIP_NAMES);
        return candidates;
    }

    private List<String> cuda() {
        List<String> candidates = inFolders(CUDA_NAMES);
        candidates.addAll(CUDA_NAMES);
        candidates.add("/usr/local/cuda/lib64/libcudart.so");
        SYSTEM_FOLDERS.forEach(folder -> candidates.add(folder + "libcudart.so"));
        candidates.addAll(inEnvironments(CUDA_WHEELS, CUDA_NAMES));
        return candidates;
    }

    private List<String> inFolders(List<String> names) {
        return folders.stream()
                .flatMap(folder ->
                        names.stream().filter(name -> name.indexOf('/') < 0).map(folder::resolve))
                .filter(Files::exists)
                .map(Path::toString)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /**
     * Returns the files that exist in Python environments. Missing files are left out, because a message with all
     * possible folders would be too long.
     */
    private List<String> inEnvironments(List<String> wheels, List<String> names) {
        List<String> found = new ArrayList<>();
        for (Path environment : environments) {
            List<Path> places = new ArrayList<>(List.of(environment.resolve("lib")));
            for (Path packages : sitePackages(environment.resolve("lib"))) {
                wheels.forEach(wheel -> places.add(packages.resolve(wheel)));
            }
            places.stream()
                    .flatMap(place -> names.stream().map(place::resolve))
                    .filter(Files::exists)
                    .map(Path::toString)
                    .filter(file -> !found.contains(file))
                    .forEach(found::add);
        }
        return found;
    }

    private static List<Path> sitePackages(Path lib) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> pythons = Files.newDirectoryStream(lib, "python3*")) {
            for (Path python : pythons) {
                found.add(python.resolve("site-packages"));
                found.add(python.resolve("dist-packages"));
            }
        } catch (IOException nothingThere) {
            return List.of();
        }
        found.sort(null);
        return found;
    }

    private static Optional<Path> folder(Setting<String> setting, RankContext context) {
        return setting.find(context).map(Path::of).filter(Path::isAbsolute);
    }
}
