package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Types carry the words of the field (MPI, NCCL, Netty); these names were ferro's own, and a reader had to be told them. */
class OldNamesTest {
    private static final Set<String> OLD = Set.of(
            "Agenda",
            "AreaLayout",
            "Bell",
            "Bells",
            "Driver",
            "DrivenLoop",
            "Errands",
            "Fleet",
            "Goodbyes",
            "GroupNotes",
            "Home",
            "Inquiry",
            "JoinedCalls",
            "Leash",
            "Leaves",
            "Leaving",
            "Losses",
            "Mailbox",
            "Manner",
            "Meeting",
            "Misfortune",
            "Names",
            "NearLink",
            "NearLinks",
            "NearTransport",
            "Nearness",
            "Neighbours",
            "Place",
            "Reasons",
            "RollCall",
            "Rules",
            "Standing",
            "Standings",
            "Touching",
            "Turn",
            "Way",
            "Whereabouts",
            "Words");
    private static final Pattern DECLARED = Pattern.compile("^\\s*(?:[a-z-]+ )*(?:class|interface|enum|record) (\\w+)");

    @Test
    void nameNoType() throws IOException {
        List<String> found = new ArrayList<>();
        int declared = 0;
        for (Path source : MainSources.of(module -> true)) {
            for (String line : Files.readAllLines(source)) {
                Matcher type = DECLARED.matcher(line);
                if (type.find()) {
                    declared++;
                    if (OLD.contains(type.group(1))) {
                        found.add(source + ": " + type.group(1));
                    }
                }
            }
        }
        assertEquals(List.of(), found);
        assertTrue(declared > 900, "found only " + declared + " types");
    }
}
