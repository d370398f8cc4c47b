package ferro.launcher.output;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Set;

/** Removes the job's secret from lines that ranks have printed. */
public final class SecretMasker {
    private final Set<String> forms = new LinkedHashSet<>();

    /**
     * Creates a mask for a secret in the forms of text, hexadecimal digits and base 64. If the text of the secret has
     * only hexadecimal digits, like a generated secret, the mask also covers the bytes that these digits encode.
     */
    public SecretMasker(byte[] secret) {
        String text = new String(secret, StandardCharsets.UTF_8);
        forms.add(text);
        addFormsOf(secret);
        if (text.matches("(\\p{XDigit}{2})+")) {
            addFormsOf(HexFormat.of().parseHex(text));
        }
    }

    private void addFormsOf(byte[] bytes) {
        forms.add(HexFormat.of().formatHex(bytes));
        forms.add(HexFormat.of().withUpperCase().formatHex(bytes));
        // the form with padding comes first, because it contains the form without padding
        forms.add(Base64.getEncoder().encodeToString(bytes));
        forms.add(Base64.getEncoder().withoutPadding().encodeToString(bytes));
        forms.add(Base64.getUrlEncoder().encodeToString(bytes));
        forms.add(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
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
