package org.countersign.client.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.countersign.client.Countersign;
import org.countersign.client.CountersignException;
import org.countersign.client.Problem;
import org.countersign.client.permissions.Permissions;
import org.countersign.client.proof.CardProof;
import org.countersign.client.proof.PhoneProof;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.streams.MessageEvents;
import org.countersign.client.streams.Streams;
import org.countersign.client.support.Place;
import org.countersign.client.user.Account;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The public API")
final class ConventionTest {
    private static final Path SDK = Place.ROOT.resolve("Sources/CountersignAndroid");
    /** The classes whose methods make calls. */
    private static final List<Class<?>> CALLING = Arrays.asList(
        Countersign.class, Account.class, PhoneProof.class, PhoneVerification.class, CardProof.class, Permissions.class,
        Streams.class, MessageEvents.class);
    /** What an app provides may fail as it likes. */
    private static final Set<String> PROVIDED = new HashSet<>(Arrays.asList("identityToken", "attest"));
    /** These read the store, and make no call. */
    private static final Set<String> LOCAL = new HashSet<>(Arrays.asList("device", "session"));

    private static List<Path> sources(String below) throws Exception {
        try (Stream<Path> all = Files.walk(SDK.resolve(below))) {
            return all.filter(one -> one.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
    }

    private static String text(Path file) throws Exception {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static List<Class<?>> publicClasses() throws Exception {
        List<Class<?>> found = new ArrayList<>();
        for (Path file : sources("src/main/java")) {
            String name = SDK.resolve("src/main/java").relativize(file).toString().replace('/', '.');
            if (name.contains(".internal.") || name.contains("package-info")) continue;
            Class<?> one = Class.forName(name.substring(0, name.length() - ".java".length()));
            if (Modifier.isPublic(one.getModifiers())) found.add(one);
        }
        return found;
    }

    @Test
    @DisplayName("has a twin that returns a future for every call, with the same parameters and result")
    void twins() throws Exception {
        int count = 0;
        for (Class<?> type : CALLING) {
            for (Method method : type.getDeclaredMethods()) {
                boolean isCall = Modifier.isPublic(method.getModifiers())
                    && Arrays.asList(method.getExceptionTypes()).contains(CountersignException.class);
                if (!isCall || LOCAL.contains(method.getName())) continue;
                Method twin = type.getMethod(method.getName() + "Async", method.getParameterTypes());
                assertEquals(CompletableFuture.class, twin.getReturnType(), twin.toString());
                String result = twin.getGenericReturnType().getTypeName();
                String wanted = method.getReturnType() == void.class
                    ? "java.lang.Void" : method.getGenericReturnType().getTypeName();
                assertEquals(CompletableFuture.class.getName() + "<" + wanted + ">", result, twin.toString());
                count++;
            }
        }
        assertTrue(count > 40, count + " calls");
    }

    @Test
    @DisplayName("has final classes, no fields but constants, and one exception")
    void shape() throws Exception {
        List<Class<?>> all = publicClasses();
        assertTrue(all.size() > 40);
        for (Class<?> type : all) {
            boolean isClosed = type.isInterface() || type.isEnum() || Modifier.isFinal(type.getModifiers());
            assertTrue(isClosed, type + " can be extended");
            for (Field field : type.getFields()) {
                assertTrue(Modifier.isStatic(field.getModifiers()), field.toString());
                assertTrue(Modifier.isFinal(field.getModifiers()), field.toString());
            }
            for (Method method : type.getDeclaredMethods()) {
                if (!Modifier.isPublic(method.getModifiers()) || PROVIDED.contains(method.getName())) continue;
                for (Class<?> failure : method.getExceptionTypes()) {
                    assertEquals(CountersignException.class, failure, method.toString());
                }
            }
            for (Constructor<?> constructor : type.getConstructors()) {
                assertTrue(constructor.getParameterCount() > 0, constructor + " says nothing");
            }
            assertNotNull(type.getPackage());
        }
    }

    @Test
    @DisplayName("names every code of refusals that the Swift library names")
    void codes() throws Exception {
        String swift = text(Place.ROOT.resolve("Sources/SwiftSDK/CountersignClient/Failures/Problem.swift"));
        Set<String> named = new HashSet<>();
        for (Field field : Problem.class.getFields()) named.add((String) field.get(null));
        Matcher codes = Pattern.compile("Code\\(rawValue: \"([a-z_]+)\"\\)").matcher(swift);
        Set<String> wanted = new HashSet<>();
        while (codes.find()) wanted.add(codes.group(1));
        assertTrue(wanted.size() > 20);
        assertEquals(wanted, named);
    }

    @Test
    @DisplayName("uses OkHttp, Gson's reader and the platform, without reflection, and says what may be null")
    void imports() throws Exception {
        Pattern imported = Pattern.compile("(?m)^import (?:static )?([\\w.]+);");
        List<String> allowed = Arrays.asList(
            "java.", "javax.net.", "javax.annotation.", "javax.crypto.", "android.", "okhttp3.",
            "org.countersign.client.");
        List<Path> files = new ArrayList<>(sources("src/main/java"));
        files.addAll(sources("src/android/java"));
        Set<String> gson = new HashSet<>();
        for (Path file : files) {
            String text = text(file);
            Matcher names = imported.matcher(text);
            while (names.find()) {
                String name = names.group(1);
                if (name.startsWith("com.google.gson.")) {
                    gson.add(name);
                } else {
                    assertTrue(allowed.stream().anyMatch(name::startsWith), file + " imports " + name);
                }
                boolean isHidden = name.startsWith("java.lang.reflect") || name.startsWith("okhttp3.internal");
                assertTrue(!isHidden, file + ": " + name);
            }
            assertTrue(!text.contains("Class.forName"), file.toString());
            Path annotated = file.resolveSibling("package-info.java");
            if (file.startsWith(SDK.resolve("src/main"))) {
                assertTrue(text(annotated).contains("@EverythingIsNonNull"), file.toString());
            }
        }
        assertEquals(
            new HashSet<>(Arrays.asList("com.google.gson.stream.JsonReader", "com.google.gson.stream.JsonToken")),
            gson);
    }

    @Test
    @DisplayName("has short files and folders")
    void lengths() throws Exception {
        for (String below : new String[] {"src/main", "src/android", "src/android-stubs", "src/test"}) {
            List<Path> files = sources(below);
            for (Path file : files) {
                List<String> lines = Files.readAllLines(file);
                assertTrue(lines.size() <= 300, file + " has " + lines.size() + " lines");
                for (String line : lines) assertTrue(line.length() <= 120, file + ": " + line);
            }
            files.stream().collect(Collectors.groupingBy(Path::getParent)).forEach((folder, inside) ->
                assertTrue(inside.size() <= 12, folder + " has " + inside.size() + " files"));
        }
    }

    @Test
    @DisplayName("for Android says that nobody ran it on a device")
    void android() throws Exception {
        List<Path> files = sources("src/android/java");
        assertEquals(2, files.size());
        for (Path file : files) assertTrue(text(file).contains("It was not run on a device."), file.toString());
        assertTrue(sources("src/android-stubs").size() <= 10);
    }
}
