package org.countersign.client.internal;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import javax.annotation.Nonnull;
import javax.annotation.meta.TypeQualifierDefault;

/** In a package with this annotation nothing is null unless it is {@link javax.annotation.Nullable}. */
@Documented
@Nonnull
@TypeQualifierDefault({java.lang.annotation.ElementType.METHOD, java.lang.annotation.ElementType.PARAMETER,
    java.lang.annotation.ElementType.FIELD})
@Retention(RetentionPolicy.RUNTIME)
public @interface EverythingIsNonNull {}
