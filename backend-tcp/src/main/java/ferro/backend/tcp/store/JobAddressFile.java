package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.ProcessUser;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The file by which rank 0 publishes its address if the environment of the other ranks does not contain the address.
 * The file is written atomically, and only the user who has written it can read it. A file that another user may have
 * written is never used. No rank locks the file. A file may be left over from an earlier start of the job. A rank
 * detects this when it connects to the address in the file.
 *
 * @param folder folder that all ranks read
 * @param name   name of the file, equal on all ranks of one start of the job
 */
record JobAddressFile(Path folder, String name) {
    private static final String TITLE = "ferro job file, version 1";
    static final int MOST_BYTES = 1024;
    private static final int LINES = 4;
    private static final String NO_SECRET = "-";

    /**
     * The content of a job file.
     *
     * @param secret fresh secret; empty if all ranks have a secret file
     */
    record JobFileContent(String host, int port, Optional<Secret> secret) {
        private byte[] bytes() {
            String shown = secret.map(Secret::hexForJobFile).orElse(NO_SECRET);
            return (String.join("\n", TITLE, "host " + host, "port " + port, "secret " + shown) + "\n")
                    .getBytes(StandardCharsets.US_ASCII);
        }

        private static JobFileContent of(byte[] bytes) {
            List<String> lines =
                    new String(bytes, StandardCharsets.US_ASCII).lines().toList();
            if (lines.size() != LINES || !lines.get(0).equals(TITLE)) {
                throw new IllegalArgumentException("need 4 lines, the first of them \"" + TITLE + "\"");
            }
            String host = field(lines.get(1), "host");
            String port = field(lines.get(2), "port");
            String secret = field(lines.get(3), "secret");
            try {
                return new JobFileContent(host, Integer.parseInt(port), secretOf(secret));
            } catch (IllegalArgumentException misread) {
                // the message of the caught exception contains the text of the file, which may be the secret
                throw new IllegalArgumentException("a port of " + port.length() + " characters and a secret of "
                        + secret.length() + ": need a number, and two hexadecimal digits for each byte");
            }
        }

        private static Optional<Secret> secretOf(String shown) {
            return shown.equals(NO_SECRET)
                    ? Optional.empty()
                    : Optional.of(Secret.of(HexFormat.of().parseHex(shown)));
        }

        private static String field(String line, String name) {
            if (!line.startsWith(name + " ")) {
                throw new IllegalArgumentException("need a line that begins with \"" + name + "\"");
            }
            return line.substring(name.length() + 1);
        }
    }

    Path path() {
        return folder.resolve(name);
    }

    /**
     * Reads the file if the file exists. Lists the folder first, because a network file system may cache that the file
     * was missing.
     *
     * @return content; empty if the file is missing, or is removed during the call
     * @throws FerroException UNAUTHENTICATED if the file belongs to another user or is open to other users, PROTOCOL if
     *     the content is invalid
     */
    Optional<JobFileContent> read(Where where) {
        try {
            if (!isListed()) {
                return Optional.empty();
            }
            Object before = checked(where);
            byte[] bytes = content(where);
            // the content is used only if the file was not replaced during the read: another file would have another
            // inode
            return before.equals(checked(where)) ? Optional.of(JobFileContent.of(bytes)) : Optional.empty();
        } catch (IOException | DirectoryIteratorException gone) {
            return Optional.empty();
        } catch (IllegalArgumentException senseless) {
            throw new FerroException(
                    Code.PROTOCOL,
                    where,
                    "the job file " + path() + " is invalid (" + senseless.getMessage() + "): remove it, and run one"
                            + " version of ferro on all ranks",
                    senseless);
        }
    }

    private boolean isListed() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (file.getFileName().toString().equals(name)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Checks owner and mode of the file. Returns an identity of the file, which differs if another file with the same
     * name replaces it.
     */
    private Object checked(Where where) throws IOException {
        if (!ProcessUser.knownTo(folder)) {
            return Optional.ofNullable(Files.readAttributes(
                            path(), java.nio.file.attribute.BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey());
        }
        Map<String, Object> facts =
                Files.readAttributes(path(), "unix:uid,mode,ino,isRegularFile", LinkOption.NOFOLLOW_LINKS);
        ProcessUser user = ProcessUser.ofProcess();
        user.checkOwn(facts).ifPresent(why -> {
            throw refused(where, why);
        });
        if (!Boolean.TRUE.equals(facts.get("isRegularFile"))) {
            throw refused(where, "is not a file, or is a link to a file");
        }
        return facts.get("ino");
    }

    private FerroException refused(Where where, String why) {
        return new FerroException(
                Code.UNAUTHENTICATED,
                where,
                "the job file " + path() + " " + why
                        + ": it may belong to another job; remove it, or name another folder on all ranks "
                        + "(FERRO_JOB_DIR)");
    }

    private byte[] content(Where where) throws IOException {
        try (FileChannel channel =
                FileChannel.open(path(), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
            ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES + 1);
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // one read may return only a part of the content
            }
            if (!bytes.hasRemaining()) {
                throw refused(where, "has more than " + MOST_BYTES + " bytes");
            }
            byte[] read = new byte[bytes.flip().remaining()];
            bytes.get(read);
            return read;
        }
    }

    /**
     * Writes the file and replaces a file of an earlier start of the job.
     *
     * @throws FerroException RENDEZVOUS if the file cannot be written
     */
    void write(JobFileContent entry, Where where) {
        Path unfinished = unfinished();
        try {
            try (FileChannel channel = FileChannel.open(
                    unfinished,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    SecretFile.ownersOnly(unfinished))) {
                ByteBuffer bytes = ByteBuffer.wrap(entry.bytes());
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(unfinished, path(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            removeUnfinished(unfinished, failure);
            throw new FerroException(
                    Code.RENDEZVOUS,
                    where,
                    "rank " + where.rank() + " of \"" + where.group() + "\" cannot write the job file " + path() + " ("
                            + failure + "), which the others need to find it: name a folder that all ranks can write"
                            + " (FERRO_JOB_DIR), or set MASTER_ADDR, MASTER_PORT and FERRO_SECRET_FILE",
                    failure);
        }
    }

    private static void removeUnfinished(Path file, IOException failure) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException kept) {
            failure.addSuppressed(kept);
        }
    }

    /**
     * Removes the file if the file still has the given content. Another start of the job may have replaced the file. If
     * another start writes a file between the check and the removal, this method restores that file.
     */
    void remove(JobFileContent entry) throws IOException {
        Path taken = unfinished();
        try {
            if (!says(entry, path())) {
                return;
            }
            Files.move(path(), taken, StandardCopyOption.ATOMIC_MOVE);
            if (says(entry, taken) || Files.exists(path())) {
                Files.delete(taken);
            } else {
                Files.move(taken, path());
            }
        } catch (NoSuchFileException gone) {
            // another process has already removed the file
        }
    }

    private static boolean says(JobFileContent entry, Path file) throws IOException {
        return Arrays.equals(entry.bytes(), Files.readAllBytes(file));
    }

    private Path unfinished() {
        return folder.resolve("." + name + "." + HexFormat.of().toHexDigits(new SecureRandom().nextLong()));
    }
}
