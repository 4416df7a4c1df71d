import Encoding

/// The caller of a wallet, as the platform names it to the wallet: the origin of a web page, or a native Android app by
/// the digest of its signing certificate. Or the address to which a wallet on the same device returns.
package struct WalletOrigin: Sendable, Hashable {
    package let text: String
    /// Whether a wallet returns there. It is a link that the platform opens in the app, which no other app can claim.
    package let isReturnAddress: Bool

    private static let android = "android:apk-key-hash:"

    /// Parses `https://` with a host and perhaps a port, or `android:apk-key-hash:` with 32 bytes in base64url; `nil` for
    /// anything else. With a path it is a return address. The text is what browsers write, so it can be compared byte by
    /// byte.
    package init?(_ text: String) {
        if text.utf8.starts(with: Self.android.utf8) {
            let digest = text.utf8.dropFirst(Self.android.utf8.count)
            guard Base64URL.decode(digest)?.count == 32 else { return nil }
            isReturnAddress = false
        } else {
            guard text.utf8.starts(with: "https://".utf8), let url = ServiceURL(text), url.query.isEmpty else {
                return nil
            }
            isReturnAddress = url.path != "/"
            // Browsers write neither the path of an origin nor the usual port.
            guard url.description.hasSameBytes(as: isReturnAddress ? text : text + "/") else { return nil }
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
