package ferro.launcher.output;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/** Removes the job's secret from lines that ranks have printed. */
public final class SecretMask {
    private final List<String> forms;

    /** Creates a mask of a secret as text, in hexadecimal digits, and in base 64. */
    public SecretMask(byte[] secret) {
        forms = List.of(
                new String(secret, StandardCharsets.UTF_8),
                HexFormat.of().formatHex(secret),
                Base64.getEncoder().withoutPadding().encodeToString(secret));
    }

    /** Returns a line with an asterisk for each character of the secret. */
    public String masked(String line) {
        String masked = line;
        for (String form : forms) {
            masked = form.isEmpty() ? masked : masked.replace(form, "*".repeat(form.length()));
        }
        return masked;
    }
}
