package ferro.integration.site;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** The tab of a browser, in which a test looks at pages as a reader with some screen does. */
record Tab(Chromium chromium) {
    private static final int HEIGHT = 900;

    /** A screen: its width in pixels, and whether the reader prefers dark pages. */
    record Screen(int width, boolean dark) {
        @Override
        public String toString() {
            return width + (dark ? "-dark" : "-light");
        }
    }

    /** Shows pages on a screen from now on, the open page too. */
    void screen(Screen screen) throws IOException, InterruptedException {
        JsonObject size = new JsonObject();
        size.addProperty("width", screen.width());
        size.addProperty("height", HEIGHT);
        size.addProperty("deviceScaleFactor", 1);
        size.addProperty("mobile", false);
        chromium.send("Emulation.setDeviceMetricsOverride", size);
        JsonObject feature = new JsonObject();
        feature.addProperty("name", "prefers-color-scheme");
        feature.addProperty("value", screen.dark() ? "dark" : "light");
        JsonArray features = new JsonArray();
        features.add(feature);
        JsonObject media = new JsonObject();
        media.add("features", features);
        chromium.send("Emulation.setEmulatedMedia", media);
    }

    void open(URI address) throws IOException, InterruptedException {
        chromium.open(address);
    }

    /** Runs the body of an asynchronous function in the open page, and returns the text that it returns. */
    String run(String body) throws IOException, InterruptedException {
        return chromium.run(body);
    }

    List<String> faults(Screen screen) throws IOException, InterruptedException {
        try (InputStream script = Tab.class.getResourceAsStream("look.js")) {
            String body = new String(script.readAllBytes(), StandardCharsets.UTF_8);
            return run("const dark = " + screen.dark() + ";\n" + body).lines().toList();
        }
    }

    /** Returns errors of the console, and requests that failed or left the host of an address, since the page was opened. */
    List<String> complaints(URI host) {
        List<String> found = new ArrayList<>();
        for (JsonObject event : chromium.events()) {
            JsonObject about = event.getAsJsonObject("params");
            switch (event.get("method").getAsString()) {
                case "Runtime.exceptionThrown" -> found.add("exception: " + about);
                case "Runtime.consoleAPICalled" -> {
                    if (List.of("error", "warning", "assert").contains(text(about, "type"))) {
                        found.add("console: " + about.get("args"));
                    }
                }
                case "Log.entryAdded" -> {
                    // the Javadoc tool names no icon, for which browsers then ask
                    if (!about.toString().contains("/favicon.ico")) {
                        found.add("log: " + about.getAsJsonObject("entry"));
                    }
                }
                case "Network.loadingFailed" -> found.add("request failed: " + about);
                case "Network.requestWillBeSent" -> {
                    String url = text(about.getAsJsonObject("request"), "url");
                    if (Stream.of(host.toString(), "data:", "blob:").noneMatch(url::startsWith)) {
                        found.add("request to another host: " + url);
                    }
                }
                default -> {}
            }
        }
        return found;
    }

    private static String text(JsonObject object, String name) {
        return object.get(name).getAsString();
    }

    void picture(Path file) throws IOException, InterruptedException {
        String png = text(chromium.send("Page.captureScreenshot", new JsonObject()), "data");
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode(png));
    }
}
