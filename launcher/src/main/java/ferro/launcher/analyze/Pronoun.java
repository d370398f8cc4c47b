package ferro.launcher.analyze;

import java.util.Map;
import java.util.regex.Pattern;

/** How a sentence names the ranks that it is about: by "it" for one, by "they" for several. */
enum Pronoun {
    IT,
    THEY;

    private static final Pattern SINGULAR =
            Pattern.compile("\\b(its process is|its process was|its process|its|it is|it has|stopped it|it)\\b");
    private static final Map<String, String> PLURAL = Map.of(
            "its process is", "their processes are",
            "its process was", "their processes were",
            "its process", "their processes",
            "its", "their",
            "it is", "they are",
            "it has", "they have",
            "stopped it", "stopped them",
            "it", "they");

    static Pronoun of(int ranks) {
        return ranks == 1 ? IT : THEY;
    }

    /**
     * Turns words of this package, written for one rank, into the words for these ranks. The text must not contain a
     * program's own words.
     */
    String say(String words) {
        if (this == IT) {
            return words;
        }
        return SINGULAR.matcher(words).replaceAll(found -> PLURAL.get(found.group()));
    }
}
