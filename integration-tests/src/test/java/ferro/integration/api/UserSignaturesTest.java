package ferro.integration.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.Groups;
import ferro.group.ProcessGroup;
import java.lang.reflect.Executable;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The signatures that users of groups see. */
class UserSignaturesTest {
    @Test
    void processGroupShowsNoTypeForImplementers() {
        assertEquals(List.of(), withTypesForImplementers(ProcessGroup.class));
    }

    @Test
    void aTypeForImplementersIsFound() {
        List<String> found = withTypesForImplementers(Groups.class);

        assertTrue(found.size() == 2 && found.get(0).contains("ferro.spi.RankContext"), found::toString);
    }

    /** Returns the public constructors and methods, inherited ones too, that have a type of {@code ferro.spi}. */
    private static List<String> withTypesForImplementers(Class<?> type) {
        Stream<Executable> members = Stream.concat(Stream.of(type.getConstructors()), Stream.of(type.getMethods()));
        return members.map(Executable::toGenericString)
                .filter(each -> each.contains("ferro.spi."))
                .sorted()
                .toList();
    }
}
