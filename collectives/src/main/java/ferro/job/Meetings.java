package ferro.job;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Makes meetings: what is named by hand wins over what a launcher tells.
 *
 * @param variables where {@code MASTER_ADDR}, {@code MASTER_PORT} and {@code FERRO_JOB_ID} may be
 */
record Meetings(Variables variables) {
    private static final String HOST = "MASTER_ADDR";
    private static final String PORT = "MASTER_PORT";
    private static final String JOB_ID = "FERRO_JOB_ID";
    private static final int MOST_PORT = 65535;
    private static final int HASH_BYTES = 8;
    private static final int MOST_KEY = 64;

    /** Returns one for ranks that are told by hand where they meet. */
    Meeting named(boolean allLocal) {
        return at(Optional.empty(), allLocal, Optional.empty(), OptionalInt.empty());
    }

    /**
     * Returns one by what the launcher tells.
     *
     * @param key      name of this start of the job, if there is one
     * @param allLocal whether all ranks are known to be here
     * @param host     of rank 0, if the launcher tells it
     * @param port     that ranks take where none is named
     */
    Meeting at(Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port) {
        OptionalInt named = port();
        return new Meeting(
                key(key),
                allLocal,
                variables.find(HOST).map(Meetings::host).or(() -> host),
                named.isPresent() ? named : port,
                Optional.empty());
    }

    Meeting without(Optional<String> key, boolean allLocal, String noHost) {
        Meeting named = at(key, allLocal, Optional.empty(), OptionalInt.empty());
        Optional<String> why = named.host().isPresent() ? Optional.empty() : Optional.of(noHost);
        return new Meeting(named.key(), named.allLocal(), named.host(), named.port(), why);
    }

    /** Returns a short name that shows nothing of what it is made of. */
    static String hashed(String launcher, String what) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(what.getBytes(StandardCharsets.UTF_8));
            return launcher + "-" + HexFormat.of().formatHex(hash, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException("this JDK has no SHA-256", everyJdkHasIt);
        }
    }

    /** An address with brackets and one without are the same; a port has a variable of its own. */
    private static String host(String text) {
        if (text.startsWith("[") && text.endsWith("]")) {
            return text.substring(1, text.length() - 1);
        }
        boolean withPort =
                text.indexOf(':') >= 0 && (text.startsWith("[") || text.indexOf(':') == text.lastIndexOf(':'));
        if (withPort) {
            throw new IllegalArgumentException(
                    HOST + "=" + text + ": need a host name or an address alone; the port goes into " + PORT);
        }
        return text;
    }

    private OptionalInt port() {
        OptionalInt port = variables.numberIfAny(PORT, 1, "a port from 1 to " + MOST_PORT);
        if (port.isPresent() && port.getAsInt() > MOST_PORT) {
            throw new IllegalArgumentException(PORT + "=" + port.getAsInt() + ": need a port from 1 to " + MOST_PORT);
        }
        return port;
    }

    private Optional<String> key(Optional<String> ofLauncher) {
        return variables.find(JOB_ID).or(() -> ofLauncher).map(Meetings::asName);
    }

    private static String asName(String text) {
        boolean plain = text.matches("[A-Za-z0-9_][A-Za-z0-9._-]*") && text.length() <= MOST_KEY;
        return plain ? text : hashed("job", text);
    }
}
