package ferro.launcher.analyze;

import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

class RecordingFuzzTest {
    @TempDir
    Path folder;

    static Stream<byte[]> recordings() {
        return Stream.of("""
                        {"format":1,"job":"j","rank":1,"worldSize":4,"host":"a","pid":7,"wallNanos":5,"clockNanos":6,
                        "reason":"TIMED_OUT","groups":[{"name":"world","id":"1","ranks":"0-3","failure":{"code":"TIMED_OUT",
                        "culprits":"2","sequence":3,"origin":0,"text":"late"}}],"operations":[{"group":"world","sequence":3,
                        "kind":"allReduce","text":"allReduce(f32)","bytes":12,"begun":4,"ended":0,"state":"running",
                        "step":1,"bytesMoved":4,"waitingFor":"2","progress":"p"}],"events":[]}
                        """, "{}", "[1]", "{\"format\":2}").map(text -> text.getBytes(StandardCharsets.UTF_8));
    }

    @MethodSource("recordings")
    @FuzzTest(maxDuration = "1m")
    void anyRecordingIsReadOrRefusedWithItsFileName(byte[] bytes) throws IOException {
        Path file = folder.resolve("rank-1.json");
        Files.write(file, bytes);
        try {
            RankRecording read = RecordingReader.read(file);
            assertTrue(read.writer().worldSize() >= 1 && read.writer().worldSize() <= RecordingReader.MOST_RANKS);
        } catch (UnreadableRecordingException refused) {
            assertStarts(refused.getMessage(), file.toString());
        }
    }
}
