import Encoding

/// The caller of a wallet, as the platform names it to the wallet: the origin of a web page, or a native Android app by
/// the digest of its signing certificate.
package struct WalletOrigin: Sendable, Hashable {
    package let text: String

    private static let android = "android:apk-key-hash:"

    /// Parses `https://` with a host and perhaps a port, or `android:apk-key-hash:` with 32 bytes in base64url; `nil` for
    /// anything else. The text is what browsers write, so it can be compared byte by byte.
    package init?(_ text: String) {
        if text.utf8.starts(with: Self.android.utf8) {
            let digest = text.utf8.dropFirst(Self.android.utf8.count)
            guard Base64URL.decode(digest)?.count == 32 else { return nil }
        } else {
            guard text.utf8.starts(with: "https://".utf8), let url = ServiceURL(text), url.query.isEmpty,
                // Browsers write neither a path nor the usual port.
                [text, text + "/"].contains(url.description), !text.utf8.dropFirst(8).contains(UInt8(ascii: "/"))
            else { return nil }
        }
        self.text = text
    }
}

/// An origin that is registered for an app.
package struct AppOrigin: Sendable, Hashable {
    package let applicationID: ApplicationID
    package let origin: WalletOrigin

    package init(applicationID: ApplicationID, origin: WalletOrigin) {
        self.applicationID = applicationID
        self.origin = origin
    }
}
