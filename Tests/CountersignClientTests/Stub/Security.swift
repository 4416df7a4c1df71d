// swift-format-ignore-file: AlwaysUseLowerCamelCase

// A stand-in of Apple's module Security, with what CountersignClient uses of it and nothing behind it. It has the types
// of Core Foundation, too; they are those that Swift bridges to.
import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [String: Any]
public typealias CFIndex = Int
public typealias OSStatus = Int32
public final class CFError {}
public final class CFAllocator {}
public final class SecKey {}
public final class SecAccessControl {}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}

public struct SecKeyAlgorithm: RawRepresentable, Sendable {
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(rawValue: "")
}

public let kSecClass: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecClassKey: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrLabel: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessControl: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecAttrApplicationTag: CFString = ""
public let kSecAttrIsPermanent: CFString = ""
public let kSecAttrKeyType: CFString = ""
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = ""
public let kSecAttrKeySizeInBits: CFString = ""
public let kSecAttrTokenID: CFString = ""
public let kSecAttrTokenIDSecureEnclave: CFString = ""
public let kSecPrivateKeyAttrs: CFString = ""
public let kSecValueData: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecReturnRef: CFString = ""
public let kSecReturnAttributes: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitAll: CFString = ""

public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecInteractionNotAllowed: OSStatus { -25308 }
public var errSecAuthFailed: OSStatus { -25293 }
public var errSecUserCanceled: OSStatus { -128 }
public var errSecMissingEntitlement: OSStatus { -34018 }
public var errSecDiskFull: OSStatus { -34 }
public var errSecDecode: OSStatus { -26275 }
public var errSecInternalError: OSStatus { -26276 }

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { nil }
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? { nil }
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { nil }
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }
public func CFErrorGetDomain(_ error: CFError) -> CFString { "" }
public func CFErrorGetCode(_ error: CFError) -> CFIndex { 0 }
