package ferro.launcher;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import ferro.backend.tcp.net.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.TemporaryFolder;
import ferro.launcher.rank.ChildProcessGuard;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A folder for the secret and for compiled sources. Only this user can read the folder. The folder is removed when the
 * job ends.
 *
 * <p>If process groups can be guarded, a guard shell removes the folder if the launcher cannot remove it. The guard
 * shell waits for the end of a pipe whose other end only the launcher holds. The guard shell also resumes ranks that
 * the launcher has suspended, so that the guard shells of the ranks can end these ranks.
 */
final class JobFolder implements AutoCloseable {
    private static final String GUARD = """
            trap '' HUP INT QUIT TERM
            ranks=
            while read -r rank; do ranks="$ranks $rank"; done
            for rank in $ranks; do kill -s CONT -- "-$rank"; done
            rm -rf -- "$1"
            [ -z "$2" ] || rmdir -- "$2"/* "$2"
            """;

    private final Path folder;
    private final Optional<Process> guard;

    private JobFolder(Path folder, Optional<Process> guard) {
        this.folder = folder;
        this.guard = guard;
    }

    /**
     * Creates the folder.
     *
     * @param guard       ends the guard shell together with this process
     * @param empty       another folder of the launcher, which the guard removes if this folder is empty
     * @param environment environment variables, which may name the folder for temporary files
     */
    static JobFolder create(ChildProcessGuard guard, Optional<Path> empty, Map<String, String> environment)
            throws IOException {
        Path folder = TemporaryFolder.make("ferro-job-", environment);
        return new JobFolder(folder, guard.holds() ? Optional.of(guard(guard, folder, empty)) : Optional.empty());
    }

    private static Process guard(ChildProcessGuard guard, Path folder, Optional<Path> empty) throws IOException {
        String other = empty.map(Path::toString).orElse("");
        return new ProcessBuilder(guard.script(GUARD, List.of(folder.toString(), other)))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
    }

    Optional<Process> guard() {
        return guard;
    }

    Path path() {
        return folder;
    }

    /** Writes a new secret that only this user can read. */
    Path writeSecret() throws IOException {
        Path file = folder.resolve("secret");
        SecretFile.create(file);
        return file;
    }

    /** Checks that a file can serve as a secret: it must have content, and no other user may be able to read it. */
    static Path checkSecret(Path file) {
        try {
            if (!Files.isRegularFile(file)) {
                throw new BadInputException("--secret-file " + file + ": no such file; create one with: "
                        + Invocation.ofProcess().line("secret", file));
            }
            SecretFile.read(file);
            return file.toAbsolutePath();
        } catch (IOException failure) {
            throw new BadInputException("--secret-file: " + failure.getMessage(), failure);
        }
    }

    /**
     * Makes the guard resume process groups after the end of this process. A guard shell that is suspended cannot end
     * its group.
     *
     * @param leaders pids of the ranks, which lead the groups
     */
    void continueLater(List<Long> leaders) throws IOException {
        if (guard.isPresent()) {
            OutputStream pipe = guard.get().getOutputStream();
            for (long leader : leaders) {
                pipe.write((leader + "\n").getBytes(StandardCharsets.US_ASCII));
            }
            pipe.flush();
        }
    }

    /** Writes the secret of one generation, which only this user can read. */
    Path writeSecret(int generation, byte[] secret) throws IOException {
        Path file = folder.resolve("secret-" + generation);
        if (Files.notExists(file)) {
            SecretFile.create(file, secret);
        }
        return file;
    }

    /** Returns the file in which ranks of one generation report their checkpoints. */
    Path checkpoints(int generation) {
        return folder.resolve("checkpoints-" + generation);
    }

    /** Removes a secret that is no longer needed, unless it is the user's own file. */
    void removeSecret(Path file) throws IOException {
        if (folder.equals(file.getParent())) {
            Files.deleteIfExists(file);
        }
    }

    @Override
    public void close() throws IOException {
        // the folder contains only files of ranks of this user
        MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        if (guard.isPresent()) {
            guard.get().getOutputStream().close();
        }
    }
}
