package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.HeardLog;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

@ResourceLock("ferro.join")
class UnknownSettingsTest {
    private static final Map<String, String> ALONE = Map.of("ferro.backend", "simulated");

    @AutoClose
    final HeardLog heard = new HeardLog("ferro.join", HeardLog.only(Level.WARNING));

    @Test
    void eachUnknownSettingIsNamedOnceWithTheNearestName() {
        Map<String, String> settings = new HashMap<>(ALONE);
        settings.put("ferro.tiemout", "3s");
        settings.put("FERRO_TCP_PROT", "4711");
        settings.put("ferro.job.id", "seven");
        settings.put("FERRO_LINKS", "auto");
        settings.put("ferro.warmup", "1");
        settings.put("ferry.timeout", "somebody else's");
        settings.put("ferro.shaded.io.netty.jfr.enabled", "false");
        try (SystemContext context = SystemContext.of(settings)) {
            joinedAndSplit(context);
            joinedAndSplit(context);
        }
        List<String> texts = heard.texts();
        assertEquals(4, texts.size(), texts::toString);
        assertTrue(texts.get(3).startsWith("ferro.warmup is no setting of ferro any more "), texts.get(3));
        assertTrue(
                texts.get(0).startsWith("FERRO_TCP_PROT ") && texts.get(0).contains("FERRO_TCP_PORT?"), texts.get(0));
        assertTrue(
                texts.get(1).startsWith("ferro.job.id ") && texts.get(1).contains("the variable FERRO_JOB_ID?"),
                texts.get(1));
        assertTrue(
                texts.get(2).startsWith("ferro.tiemout ") && texts.get(2).contains("did you mean ferro.timeout?"),
                texts.get(2));
    }

    @Test
    void unknownSettingsThatTheLauncherReportedAreNotRepeated() {
        Map<String, String> settings = new HashMap<>(ALONE);
        settings.put("FERRO_WARNED_NAMES", "FERRO_TIEMOUT,ferro.job.id");
        settings.put("FERRO_TIEMOUT", "3s");
        settings.put("FERRO_TCP_PROT", "4711");
        settings.put("LOCAL_RANK", "1");
        try (SystemContext context = SystemContext.of(settings)) {
            joinedAndSplit(context);
        }
        List<String> texts = heard.texts();
        assertEquals(1, texts.size(), texts::toString);
        assertTrue(texts.get(0).startsWith("FERRO_TCP_PROT "), texts.get(0));
    }

    @Test
    void noExistingSettingIsReportedUnknown() {
        List<String> all = Stream.concat(
                        Settings.all().stream().flatMap(each -> Stream.of(each.name(), each.variable())),
                        Settings.ofScripts().stream())
                .toList();
        try (SystemContext context = SystemContext.of(ALONE)) {
            joinedAndSplit(new ForwardingContext(context) {
                @Override
                public Set<String> settingNames() {
                    return Set.copyOf(all);
                }
            });
        }
        assertEquals(List.of(), heard.texts());
        assertTrue(all.contains(Setting.variable("ferro.timeout")), "the list has variables");
    }

    private static void joinedAndSplit(RankContext context) {
        GroupSpec alone = GroupSpec.of("world", 0, 1, Duration.ofSeconds(20));
        try (ProcessGroup group = Groups.join(alone, context);
                ProcessGroup part = group.split(0, 0).orElseThrow()) {
            part.barrier();
        }
    }
}
