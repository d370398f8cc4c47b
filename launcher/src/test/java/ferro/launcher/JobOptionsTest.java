package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Settings;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import picocli.AutoComplete;

class JobOptionsTest {
    @Test
    void eachLinksOptionIsAValueOfTheSetting() {
        new JobOptions.LinkKinds().forEach(kind -> assertEquals(kind, Settings.LINKS.read(kind)));
    }

    @Test
    void onlyBackendsWhoseRanksAreProcessesAreOffered() {
        Set<String> names = new TreeSet<>();
        new JobOptions.BackendNames().forEach(names::add);

        assertTrue(names.containsAll(Set.of("auto", "tcp", "shm", "nccl")), names::toString);
        assertFalse(names.contains("simulated"), names::toString);
    }

    @Test
    void theShellCompletionOffersLinksAndBackends() {
        String script = AutoComplete.bash("ferro", FerroCommand.commandLine());

        assertHas(script, "(\"auto\" \"tcp\" \"shm\") # --links values", "\"tcp\") # --backend values");
    }
}
