package ferro.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class CodecTest {
    @Test
    void textsWithAnyCharactersAreDecodedUnchanged() throws IOException {
        String text = "a, ä, 語, \uD83D\uDE80";

        byte[] bytes = Codec.utf8().encode(text);

        assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), bytes);
        assertEquals(text, Codec.utf8().decode(bytes));
    }

    @Test
    void invalidTextIsRefusedInsteadOfReplaced() {
        assertThrows(CharacterCodingException.class, () -> Codec.utf8().encode("half a pair \uD83D"));
        assertThrows(CharacterCodingException.class, () -> Codec.utf8().decode(new byte[] {'a', (byte) 0xff}));
    }

    @Test
    void aMappedCodecConvertsThroughTheInnerOne() throws IOException {
        Codec<Integer> numbers = Codec.utf8().map(Integer::toHexString, text -> Integer.parseInt(text, 16));

        assertArrayEquals(new byte[] {'f', 'f'}, numbers.encode(255));
        assertEquals(255, numbers.decode(new byte[] {'f', 'f'}));
    }
}
