package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.ProcessUser;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.TemporaryFiles;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;

/** Finds the folder of job files: the configured folder, or else a folder that only this user can open. */
final class JobFolderFinder {
    private static final String MINE = "rwx------";
    private static final int WRITTEN_BY_OTHERS = 0022;
    /** The sticky mode bit of a folder. If this bit is set, only the owner of a file can rename or remove the file. */
    private static final int STICKY = 01000;

    private static final int BITS = 07777;

    private JobFolderFinder() {}

    /**
     * Finds the folder, and creates the default folder if it does not exist.
     *
     * @param allLocal whether all ranks are on this host, so that the host's folder of temporary files can be used
     * @throws FerroException UNAUTHENTICATED if other users can open the default folder or replace files in the
     *     configured folder, RENDEZVOUS if the folder cannot be created
     */
    static Path of(RankContext context, boolean allLocal, Where where) {
        Optional<String> set = Settings.JOB_DIR.find(context);
        if (set.isPresent()) {
            return checked(Path.of(set.get()), where);
        }
        Path base = TemporaryFiles.folder(context);
        try {
            if (allLocal) {
                int uid = ProcessUser.ofProcess().uid();
                return own(base.resolve("ferro-" + Integer.toUnsignedString(uid)), where);
            }
            base = Path.of(Settings.HOME.find(context).orElseGet(() -> System.getProperty("user.home")), ".ferro");
            if (!base.isAbsolute()) {
                throw new IOException("this user has no home folder: " + base + " is relative");
            }
            Files.createDirectories(base);
            return own(base.resolve("jobs"), where);
        } catch (IOException failure) {
            throw new FerroException(
                    Code.RENDEZVOUS,
                    where,
                    "cannot use a folder for job files under " + base + " (" + failure
                            + "): name a folder that all ranks can write (FERRO_JOB_DIR)",
                    failure);
        }
    }

    /**
     * Checks that other users cannot replace a job file in a configured folder. Other users may write other files to
     * the folder. A rank finds the job file by its name, and checks the owner before and after the read. A user who can
     * rename files in the folder could replace the file between the two checks.
     */
    private static Path checked(Path folder, Where where) {
        try {
            int mode = ProcessUser.knownTo(folder) ? (Integer) Files.getAttribute(folder, "unix:mode") : 0;
            if ((mode & WRITTEN_BY_OTHERS) == 0 || (mode & STICKY) != 0) {
                return folder;
            }
            throw new FerroException(
                    Code.UNAUTHENTICATED,
                    where,
                    "the folder " + folder + " can be written by others (mode " + Integer.toOctalString(mode & BITS)
                            + "), who could replace a job file: run chmod go-w " + folder + ", or chmod +t " + folder
                            + " if a group shares the folder; or name another folder on all ranks (FERRO_JOB_DIR), "
                            + "such as a folder in this user's home that all hosts see");
        } catch (IOException missing) {
            // the error is reported when a file in the folder is read or written
            return folder;
        }
    }

    /** Creates a folder that only this user can open, or checks that only this user can open an existing folder. */
    static Path own(Path folder, Where where) throws IOException {
        try {
            Files.createDirectory(folder, ownersOnly(folder));
        } catch (FileAlreadyExistsException there) {
            Optional<String> trouble = trouble(folder);
            if (trouble.isPresent()) {
                throw new FerroException(
                        Code.UNAUTHENTICATED,
                        where,
                        "the folder " + folder + " " + trouble.get()
                                + ", so anyone could have written the job files in it: remove it, or name another "
                                + "folder on all ranks (FERRO_JOB_DIR)");
            }
        }
        return folder;
    }

    private static Optional<String> trouble(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.of("is not a folder, or is a link to a folder");
        }
        if (!ProcessUser.knownTo(folder)) {
            return Optional.empty();
        }
        Map<String, Object> facts = Files.readAttributes(folder, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        return ProcessUser.ofProcess().checkOwn(facts);
    }

    private static FileAttribute<?>[] ownersOnly(Path folder) {
        return ProcessUser.knownTo(folder)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(MINE))}
                : new FileAttribute<?>[0];
    }
}
