// A library module for apps of Android: copy this folder into the app's project, and name it in settings.gradle.kts.
plugins {
    id("com.android.library")
}

android {
    namespace = "org.countersign.client"
    compileSdk = 34
    defaultConfig { minSdk = 26 }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    sourceSets["main"].java.srcDir("src/android/java")
}

dependencies {
    api("com.squareup.okhttp3:okhttp:4.12.0")
    implementation("com.google.code.gson:gson:2.10.1")
    compileOnly("com.google.code.findbugs:jsr305:3.0.2")
}
